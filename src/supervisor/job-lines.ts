/** What the lines must hold that jobs print with `--json`. */
import type { RepriceDay, RepriceProgress, RepriceResult, SyncResult } from '../api/costs.ts'
import type { CompressProgress, CompressResult } from '../api/database-job.ts'
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
