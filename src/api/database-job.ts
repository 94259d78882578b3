import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** `roll_up`: calls enter the rollups; `fold`: old ones are deleted; `give_back`: free pages leave the file. */
export const CompressPhase = v.picklist(['roll_up', 'fold', 'give_back'])

export type CompressPhase = Infer<typeof CompressPhase>

/** Progress of a compression. */
export const CompressProgress = v.object({
  phase: CompressPhase,
  /** Calls; of `give_back`, pages. */
  done: v.number(),
  total: v.number(),
})

export type CompressProgress = Infer<typeof CompressProgress>

/** The result of compressing; of a dry run, the expected one. Sizes are of the file and its log together. */
export const CompressResult = v.object({
  before_bytes: v.number(),
  /** A dry run estimates this. */
  after_bytes: v.number(),
  folded_calls: v.number(),
  duration_ms: v.number(),
})

export type CompressResult = Infer<typeof CompressResult>

/** Records of an imported file that are no calls here, or lack a value here, for one reason. */
export interface ImportProblem {
  readonly count: number
  /** The first of them, in words. */
  readonly problem: string
  /** The places of the first few: lines of a file, or rows of a database. */
  readonly lines: readonly number[]
}

/** The result of an import; of a dry run, the expected one. */
export interface ImportResult {
  readonly source: string
  readonly added: number
  /** There already. */
  readonly present: number
  readonly skipped: number
  /** Reasons for skipped records. */
  readonly problems: readonly ImportProblem[]
  /** Impossible values, left out of calls that were added. */
  readonly notes: readonly ImportProblem[]
  /** Why the file could not be read to its end; null if it was. */
  readonly stopped: string | null
  readonly duration_ms: number
}

/** Why a job came to nothing. */
export const JobFailure = v.object({
  code: v.picklist(['job_running', 'no_database', 'folded_range', 'broken_price_file', 'job_failed']),
  message: v.string(),
  /** For `folded_range`, `from` is the first time with single calls. */
  data: v.exactOptional(v.record(v.string(), v.string())),
})

export type JobFailure = Infer<typeof JobFailure>

/** The body of `GET /api/db`. */
export const DatabaseFile = v.object({
  /** Its path in full. */
  file: v.string(),
  /** Bytes of the file and its log together; null without a database. */
  bytes: v.nullable(v.number()),
  /** Free on the disk that it is on, for this user. */
  disk_free_bytes: v.nullable(v.number()),
})

export type DatabaseFile = Infer<typeof DatabaseFile>

/** The body of `GET /api/db`: the file, and where it is going. */
export const DatabaseSize = v.object({
  ...DatabaseFile.entries,
  /** Calls of the last seven days × average bytes of a call; null with less than an hour of calls. */
  growth_bytes_per_day: v.nullable(v.number()),
  /** When the disk is full at that rate, ISO 8601 in UTC; null if that is not known, or over a hundred years away. */
  disk_full_at: v.nullable(v.string()),
})

export type DatabaseSize = Infer<typeof DatabaseSize>

/** A job that was begun on the dashboard, the last of its kind that was. */
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

/** A compressing. */
export const DatabaseJob = v.object({
  ...jobOf('compress', CompressProgress, CompressResult).entries,
  keep_days: v.number(),
})

export type DatabaseJob = Infer<typeof DatabaseJob>

/** Calls of one day and model whose cost is another one after re-pricing. Sums are null where none of them has a cost. */
export const RepriceDay = v.object({
  /** A local date in the requested time zone. */
  day: v.string(),
  model: v.nullable(v.string()),
  calls: v.number(),
  before_usd: v.nullable(v.number()),
  after_usd: v.nullable(v.number()),
  /** Calls that had no price before. */
  newly_priced: v.number(),
  /** Calls that have none any more. */
  newly_unpriced: v.number(),
})

export type RepriceDay = Infer<typeof RepriceDay>

/** The result of re-pricing; of a dry run, the expected one. */
export const RepriceResult = v.object({
  ...v.omit(RepriceDay, ['day', 'model']).entries,
  days: v.array(RepriceDay),
  /** Calls that the job read. */
  looked_calls: v.number(),
  /** Calls among these whose cost the upstream reported: they stay unchanged. */
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

/** A line that `tokenweir db reprice --json` prints: progress any number of times, then how it ended. */
export type RepriceLine =
  | { readonly progress: RepriceProgress }
  | { readonly result: RepriceResult }
  | { readonly error: JobFailure }

/** A re-pricing. */
export const RepriceJob = jobOf('reprice', RepriceProgress, RepriceResult)

export type RepriceJob = Infer<typeof RepriceJob>

/** The forms of a file of calls. */
export const exportFormats = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof exportFormats)[number]
