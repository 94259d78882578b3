import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** `roll_up`: calls enter the rollups; `fold`: old ones are deleted; `give_back`: free pages leave the file. */
export const CompressPhase = v.picklist(['roll_up', 'fold', 'give_back'])

export type CompressPhase = Infer<typeof CompressPhase>

/** Progress of a compression. */
export const CompressProgress = v.object({
  phase: CompressPhase,
  /** Calls; for `give_back`, pages. */
  done: v.number(),
  total: v.number(),
})

export type CompressProgress = Infer<typeof CompressProgress>

/**
 * The result of compressing; for a dry run, the expected result. Sizes are of the file and its log together,
 * in bytes.
 */
export const CompressResult = v.object({
  before_bytes: v.number(),
  /** Size afterwards; a dry run estimates it. */
  after_bytes: v.number(),
  folded_calls: v.number(),
  duration_ms: v.number(),
})

export type CompressResult = Infer<typeof CompressResult>

/** Records of an imported file with the same problem: they were skipped, or lost a value. */
export interface ImportProblem {
  readonly count: number
  /** The first problem, in words. */
  readonly problem: string
  /** Numbers of the first few: lines of a file, or rows of a database. */
  readonly lines: readonly number[]
}

/** The result of an import; for a dry run, the expected result. */
export interface ImportResult {
  readonly source: string
  readonly added: number
  /** Records whose call was in the database already. */
  readonly present: number
  readonly skipped: number
  /** Reasons for skipped records. */
  readonly problems: readonly ImportProblem[]
  /** Impossible values that were left out of added calls. */
  readonly notes: readonly ImportProblem[]
  /** Why reading stopped before the end of the file; null if it did not. */
  readonly stopped: string | null
  readonly duration_ms: number
}

/** Why a job failed. */
export const JobFailure = v.object({
  code: v.picklist(['job_running', 'no_database', 'folded_range', 'broken_price_file', 'job_failed']),
  message: v.string(),
  /** Facts by name. For `folded_range`, `from` is the first time with single calls. */
  data: v.exactOptional(v.record(v.string(), v.string())),
})

export type JobFailure = Infer<typeof JobFailure>

/** The body of `GET /api/db`. */
export const DatabaseFile = v.object({
  /** The absolute path. */
  file: v.string(),
  /** Bytes of the file and its log together; null without a database. */
  bytes: v.nullable(v.number()),
  /** Free bytes for this user on the disk of the file. */
  disk_free_bytes: v.nullable(v.number()),
})

export type DatabaseFile = Infer<typeof DatabaseFile>

/** The body of `GET /api/db`: the file and its growth. */
export const DatabaseSize = v.object({
  ...DatabaseFile.entries,
  /** Calls of the last seven days × average bytes of a call; null with less than an hour of calls. */
  growth_bytes_per_day: v.nullable(v.number()),
  /** When the disk will be full at that rate: ISO 8601, UTC; null if unknown, or more than 100 years away. */
  disk_full_at: v.nullable(v.string()),
})

export type DatabaseSize = Infer<typeof DatabaseSize>

/** The schema of the last job of one kind that was started on the dashboard. */
export function jobOf<const N extends string, P extends v.GenericSchema, R extends v.GenericSchema>(
  name: N,
  progress: P,
  result: R,
) {
  return v.object({
    job: v.literal(name),
    state: v.picklist(['running', 'done', 'failed']),
    dry_run: v.boolean(),
    /** ISO 8601, UTC. */
    started_at: v.string(),
    /** Null until the job reports progress. */
    progress: v.nullable(progress),
    result: v.nullable(result),
    error: v.nullable(JobFailure),
  })
}

/** The last job that compressed the database. */
export const DatabaseJob = v.object({
  ...jobOf('compress', CompressProgress, CompressResult).entries,
  keep_days: v.number(),
})

export type DatabaseJob = Infer<typeof DatabaseJob>

/** Calls of one day and model whose cost changes. Sums are null if no call has a cost. */
export const RepriceDay = v.object({
  /** A local date in the requested time zone. */
  day: v.string(),
  model: v.nullable(v.string()),
  calls: v.number(),
  before_usd: v.nullable(v.number()),
  after_usd: v.nullable(v.number()),
  /** Calls that had no price before. */
  newly_priced: v.number(),
  /** Calls that have no price afterwards. */
  newly_unpriced: v.number(),
})

export type RepriceDay = Infer<typeof RepriceDay>

/** The result of re-pricing; for a dry run, the expected result. */
export const RepriceResult = v.object({
  ...v.omit(RepriceDay, ['day', 'model']).entries,
  days: v.array(RepriceDay),
  /** Calls that the job read. */
  looked_calls: v.number(),
  /** Calls among these whose cost the upstream reported. Their cost stays. */
  reported_calls: v.number(),
  duration_ms: v.number(),
})

export type RepriceResult = Infer<typeof RepriceResult>

/** Progress of a recalculation, in minutes of the calls' time. */
export const RepriceProgress = v.object({
  done: v.number(),
  total: v.number(),
})

export type RepriceProgress = Infer<typeof RepriceProgress>

/** A line that `tokenweir db reprice --json` prints: first progress, then the result or the failure. */
export type RepriceLine =
  | { readonly progress: RepriceProgress }
  | { readonly result: RepriceResult }
  | { readonly error: JobFailure }

/** The last job that re-priced calls. */
export const RepriceJob = jobOf('reprice', RepriceProgress, RepriceResult)

export type RepriceJob = Infer<typeof RepriceJob>

/** The forms of a file of calls. */
export const exportFormats = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof exportFormats)[number]
