/** What the lines must hold that jobs print with `--json`. */
import type { RepriceDay, RepriceProgress, RepriceResult, SyncResult } from '../api/costs.ts'
import type { CompressProgress, CompressResult, JobFailure } from '../api/database-job.ts'
import {
  type Shape,
  isAmount,
  isFlag,
  isNumber,
  isOneOf,
  isText,
  listOf,
  nullable,
  record,
} from '../lib/message-shape.ts'

export const isCompressProgress: Shape<CompressProgress> = record<CompressProgress>({
  phase: isOneOf(['roll_up', 'fold', 'give_back']),
  done: isAmount,
  total: isAmount,
})

export const isCompressResult: Shape<CompressResult> = record<CompressResult>({
  before_bytes: isAmount,
  after_bytes: isAmount,
  folded_calls: isAmount,
  duration_ms: isAmount,
})

export const isRepriceProgress: Shape<RepriceProgress> = record<RepriceProgress>({
  done: isAmount,
  total: isAmount,
})

const sums = {
  calls: isAmount,
  before_usd: nullable(isNumber),
  after_usd: nullable(isNumber),
  newly_priced: isAmount,
  newly_unpriced: isAmount,
}

export const isRepriceResult: Shape<RepriceResult> = record<RepriceResult>({
  ...sums,
  days: listOf(record<RepriceDay>({ ...sums, day: isText, model: nullable(isText) })),
  looked_calls: isAmount,
  reported_calls: isAmount,
  duration_ms: isAmount,
})

export const isSyncResult: Shape<SyncResult> = record<SyncResult>({
  added: isAmount,
  changed: isAmount,
  removed: isAmount,
  entries: isAmount,
  rejected: isAmount,
  not_modified: isFlag,
})

const isFailure = record<{ readonly code: string; readonly message: string }>({
  code: isText,
  message: isText,
})
const isKnownCode = isOneOf(['job_running', 'no_database', 'folded_range', 'broken_price_file', 'job_failed'])

/** `null` if the value tells of none; a code that this version does not know is `job_failed`. */
export function failureIn(value: unknown): JobFailure | null {
  if (!isFailure(value)) return null
  return { code: isKnownCode(value.code) ? value.code : 'job_failed', message: value.message }
}
