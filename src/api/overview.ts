import type { GroupFigures, MeasureFigures } from '../call/call-question.ts'
import type { CallJson } from '../call/call-record.ts'
import type { CallType } from '../call/call.ts'

/** How one measure is spread over `n` calls that went well; null if there is none. */
export type OverviewMeasure = Omit<MeasureFigures, 'avg' | 'p90'>

type TotalCounts = Pick<
  GroupFigures,
  | 'calls'
  | 'errors'
  | 'error_rate'
  | 'input_tokens'
  | 'output_tokens'
  | 'cached_input_tokens'
  | 'cached_share'
  | 'cache_saved_usd'
  | 'cost_usd'
  | 'unpriced_calls'
  | 'no_usage_calls'
>

/** All calls of a window at once. Durations, first tokens and speeds are of chat calls alone if `chat_only` says so. */
export interface OverviewTotals extends TotalCounts {
  readonly duration_ms: OverviewMeasure
  /** From dispatch: what the upstream takes. */
  readonly ttft_ms: OverviewMeasure
  /** From arrival, with the wait for a slot. */
  readonly ttft_total_ms: OverviewMeasure
  readonly queue_ms: OverviewMeasure
  readonly output_tokens_per_s: OverviewMeasure
}

/** One value for each bucket of time, in columns of equal length. The first and the last bucket may be cut by the range. */
export interface OverviewBuckets {
  /** Seconds since the Unix epoch at which each bucket begins. */
  readonly start_s: readonly number[]
  readonly calls: readonly number[]
  readonly errors: readonly number[]
  readonly error_rate: readonly (number | null)[]
  readonly input_tokens: readonly number[]
  readonly output_tokens: readonly number[]
  /** Cached part of the input tokens, 0 to 1. */
  readonly cached_share: readonly (number | null)[]
  readonly cost_usd: readonly (number | null)[]
  readonly duration_n: readonly number[]
  readonly duration_p50_ms: readonly (number | null)[]
  readonly duration_p95_ms: readonly (number | null)[]
  readonly duration_p99_ms: readonly (number | null)[]
  readonly ttft_n: readonly number[]
  readonly ttft_p50_ms: readonly (number | null)[]
  readonly ttft_p95_ms: readonly (number | null)[]
  readonly speed_n: readonly number[]
  /** Output tokens per second. */
  readonly speed_p50: readonly (number | null)[]
  readonly queue_n: readonly number[]
  readonly queue_p95_ms: readonly (number | null)[]
}

/**
 * How many calls took how long: a map of time and duration, over the calls that went well, and over chat calls alone
 * where `chat_only` says so. A call within 1 % of a limit may be counted on its other side.
 */
export interface OverviewHeat {
  /**
   * Rising limits in milliseconds, in steps of 1, 2 and 5, as far as there are calls: bin `i` reaches from the `i`th (inclusive)
   * to the one after it. One more than there are bins; none without a call.
   */
  readonly limits_ms: readonly number[]
  /** For each bucket of time of `buckets`, calls in each bin from the first on; bins without a call at the end of a bucket are left out. */
  readonly counts: readonly (readonly number[])[]
}

/** The values of single calls, for each bucket of time of `buckets`; of the same calls as its percentiles. */
export interface OverviewSingles {
  readonly duration_ms: readonly (readonly number[])[]
  readonly ttft_ms: readonly (readonly number[])[]
  readonly output_tokens_per_s: readonly (readonly number[])[]
}

/** How busy the gateway's slots were, in buckets of at least a minute; null where no gateway ran. */
export interface OverviewSlots {
  readonly bucket_s: number
  readonly start_s: readonly number[]
  readonly active_max: readonly (number | null)[]
  readonly queued_max: readonly (number | null)[]
  /** The highest `max_concurrent` that held at any time of the bucket; null also where no gateway noted it. */
  readonly limit: readonly (number | null)[]
  /** Part of the time, 0 to 1, in which every slot was in use. */
  readonly at_limit_share: readonly (number | null)[]
  /** The same over the whole range. */
  readonly at_limit_share_total: number | null
  /**
   * Spans of whole minutes in which no gateway ran, or none could note that it did, in the order of time; the thirty longest.
   * Nothing is known of the time before a gateway first ran. In buckets of over an hour one may be left out that is shorter
   * than a 24th of the bucket.
   */
  readonly gaps: readonly { readonly from_s: number; readonly to_s: number }[]
}

/** What a list of calls shows of each; the fields are those of `/api/query`. */
export const overviewCallFields = [
  'id',
  'started_at',
  'call_type',
  'endpoint',
  'model',
  'client',
  'status',
  'outcome',
  'failed',
  'failure_code',
  'stream',
  'attempts',
  'receive_ms',
  'queue_ms',
  'retry_wait_ms',
  'ttft_ms',
  'ttft_total_ms',
  'duration_ms',
  'input_tokens',
  'output_tokens',
  'cost_usd',
] as const

export type OverviewCall = Pick<CallJson, (typeof overviewCallFields)[number]>

/** One model's part of the window. */
export interface OverviewModel {
  readonly model: string | null
  readonly calls: number
  readonly errors: number
  readonly total_tokens: number
  /** Cached part of the input tokens, 0 to 1; null where no usage is known. */
  readonly cached_share: number | null
  readonly cost_usd: number | null
  readonly unpriced_calls: number
}

/** Something that happened to the gateway itself; or, of kind `note`, what somebody noted, in `detail`. */
export interface OverviewEvent {
  readonly at: string
  /** Null of a note. */
  readonly instance: string | null
  readonly kind: string
  readonly detail: string | null
}

/** The body of `GET /api/overview`: all that a first page shows. */
export interface Overview {
  /** ISO 8601, UTC; `to` is exclusive. */
  readonly from: string
  readonly to: string
  readonly tz: string
  /** Width of a bucket as a rule: local hours and days may be longer or shorter where the clocks change. */
  readonly bucket_s: number
  readonly chat_only: boolean
  /** Which calls times and speeds are of: those that failed if no others are asked for, and all of them are kept. */
  readonly timed: 'ok' | 'failed'
  readonly buckets: OverviewBuckets
  readonly heat: OverviewHeat
  /** Of a few calls, each by itself; null where they are too many, and where not all of them are kept. */
  readonly singles: OverviewSingles | null
  readonly totals: OverviewTotals
  /** The window of the same length just before; null where it cannot be told any more, and where recording began only in it. */
  readonly previous: OverviewTotals | null
  /** Those with the most calls and those that cost most, most calls first; null where folded calls do not tell it. */
  readonly models: readonly OverviewModel[] | null
  /** Failed calls by their code, most calls first; null where folded calls do not tell it. */
  readonly failures: readonly { readonly failure_code: string | null; readonly calls: number }[] | null
  readonly slots: OverviewSlots
  readonly events: readonly OverviewEvent[]
  readonly latest: readonly OverviewCall[]
  /** Of the calls that times are of. */
  readonly slowest: readonly OverviewCall[]
  readonly failed: readonly OverviewCall[]
  readonly available_models: readonly string[]
  readonly available_types: readonly CallType[]
  /** When the first call that was ever recorded began; null without one. */
  readonly recorded_from: string | null
  readonly resolution?: '1h'
  /** Why nothing is told, where the database cannot be read. */
  readonly store?: string
  readonly note?: string
}
