import * as v from 'valibot'
import { overviewCallFields } from '../call/call-record.ts'
import { GroupFigures, MeasureFigures } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'
import { CallJson, NoStore, QueryFrame } from './calls.ts'

const numbers = v.array(v.number())
const numbersOrNull = v.array(v.nullable(v.number()))

/** Figures of a measure over `n` successful calls; null without a call. */
export const OverviewMeasure = v.omit(MeasureFigures, ['avg', 'p90'])

export type OverviewMeasure = Infer<typeof OverviewMeasure>

const TotalCounts = v.pick(GroupFigures, [
  'calls',
  'errors',
  'error_rate',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cached_share',
  'cache_saved_usd',
  'cost_usd',
  'unpriced_calls',
  'no_usage_calls',
])

/** Totals of a window. With `chat_only`, durations, first tokens and speeds are those of chat calls. */
export const OverviewTotals = v.object({
  ...TotalCounts.entries,
  duration_ms: OverviewMeasure,
  /** Time to first token from dispatch: the upstream's time. */
  ttft_ms: OverviewMeasure,
  /** Time to first token from arrival, with the wait for a slot. */
  ttft_total_ms: OverviewMeasure,
  queue_ms: OverviewMeasure,
  output_tokens_per_s: OverviewMeasure,
})

export type OverviewTotals = Infer<typeof OverviewTotals>

/** Columns of equal length with a value for each bucket of time. The range may cut the first and the last bucket. */
export const OverviewBuckets = v.object({
  /** Seconds since the Unix epoch at which each bucket begins. */
  start_s: numbers,
  calls: numbers,
  errors: numbers,
  error_rate: numbersOrNull,
  input_tokens: numbers,
  output_tokens: numbers,
  /** Cached part of the input tokens, 0 to 1. */
  cached_share: numbersOrNull,
  cost_usd: numbersOrNull,
  duration_n: numbers,
  duration_p50_ms: numbersOrNull,
  duration_p95_ms: numbersOrNull,
  duration_p99_ms: numbersOrNull,
  ttft_n: numbers,
  ttft_p50_ms: numbersOrNull,
  ttft_p95_ms: numbersOrNull,
  speed_n: numbers,
  /** Output tokens per second. */
  speed_p50: numbersOrNull,
  queue_n: numbers,
  queue_p95_ms: numbersOrNull,
})

export type OverviewBuckets = Infer<typeof OverviewBuckets>

/**
 * The heat map: number of successful calls by time and duration; with `chat_only`, of chat calls
 * alone. A call within 1% of a limit may be counted on its other side.
 */
export const OverviewHeat = v.object({
  /**
   * Limits of the bins in milliseconds, in steps of 1, 2 and 5, up to the longest call. Bin `i` begins at limit `i` (inclusive)
   * and ends before the next. Empty without a call.
   */
  limits_ms: numbers,
  /** For each time bucket of `buckets`, the calls in each bin. Empty bins at the end are left out. */
  counts: v.array(numbers),
})

export type OverviewHeat = Infer<typeof OverviewHeat>

/** The values of single calls, for each bucket of time of `buckets`; of the same calls as its percentiles. */
export const OverviewSingles = v.object({
  duration_ms: v.array(numbers),
  ttft_ms: v.array(numbers),
  output_tokens_per_s: v.array(numbers),
})

export type OverviewSingles = Infer<typeof OverviewSingles>

/** Use of the gateway's slots, in buckets of at least a minute; null where no gateway ran. */
export const OverviewSlots = v.object({
  bucket_s: v.number(),
  start_s: numbers,
  active_max: numbersOrNull,
  queued_max: numbersOrNull,
  /** The highest `max_concurrent` that was in force in the bucket; null if no gateway recorded it. */
  limit: numbersOrNull,
  /** Part of the time, 0 to 1, in which every slot was in use. */
  at_limit_share: numbersOrNull,
  /** The share over the whole range. */
  at_limit_share_total: v.nullable(v.number()),
  /**
   * Spans of whole minutes in which no gateway ran, or none could note that it did, in the order of time; the thirty longest.
   * Nothing is known of the time before a gateway first ran. In buckets of over an hour one may be left out that is shorter
   * than a 24th of the bucket.
   */
  gaps: v.array(v.object({ from_s: v.number(), to_s: v.number() })),
})

export type OverviewSlots = Infer<typeof OverviewSlots>

export const OverviewCall = v.pick(CallJson, overviewCallFields)

export type OverviewCall = Infer<typeof OverviewCall>

/** A model's figures in the window. */
export const OverviewModel = v.object({
  model: v.nullable(v.string()),
  calls: v.number(),
  errors: v.number(),
  total_tokens: v.number(),
  /** Cached part of the input tokens, 0 to 1; null where no usage is known. */
  cached_share: v.nullable(v.number()),
  cost_usd: v.nullable(v.number()),
  unpriced_calls: v.number(),
})

export type OverviewModel = Infer<typeof OverviewModel>

/** An event of the gateway; or a user's note, of kind `note`, with its text in `detail`. */
export const OverviewEvent = v.object({
  at: v.string(),
  /** Null for a note. */
  instance: v.nullable(v.string()),
  kind: v.string(),
  detail: v.nullable(v.string()),
})

export type OverviewEvent = Infer<typeof OverviewEvent>

/** The body of `GET /api/overview`: everything that the Overview shows. */
export const Overview = v.object({
  ...NoStore.entries,
  ...v.omit(QueryFrame, ['summary']).entries,
  /** ISO 8601, UTC; `to` is exclusive. */
  from: v.string(),
  to: v.string(),
  tz: v.string(),
  /** Usual width of a bucket in seconds. Local hours and days differ where the clocks change. */
  bucket_s: v.number(),
  chat_only: v.boolean(),
  /** The calls that times and speeds cover: failed ones if the filter has no others and all are single calls. */
  timed: v.picklist(['ok', 'failed']),
  buckets: OverviewBuckets,
  heat: OverviewHeat,
  /** Single calls of a small window; null if there are too many calls, or some are folded. */
  singles: v.nullable(OverviewSingles),
  totals: OverviewTotals,
  /** Totals of the window of the same length just before; null if it is folded, or recording began within it. */
  previous: v.nullable(OverviewTotals),
  /** The models with the most calls and the highest cost, most calls first; null where folded calls lack the model. */
  models: v.nullable(v.array(OverviewModel)),
  /** Failed calls by code, most calls first; null where folded calls lack the code. */
  failures: v.nullable(v.array(v.object({ failure_code: v.nullable(v.string()), calls: v.number() }))),
  slots: OverviewSlots,
  events: v.array(OverviewEvent),
  latest: v.array(OverviewCall),
  /** The slowest calls among those that `timed` and `chat_only` select. */
  slowest: v.array(OverviewCall),
  failed: v.array(OverviewCall),
  /** When the first call that was ever recorded began; null without one. */
  recorded_from: v.nullable(v.string()),
})

export type Overview = Infer<typeof Overview>
