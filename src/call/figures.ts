/** The figures of sets of calls. */
import * as v from 'valibot'
import type { Infer } from './infer.ts'

/**
 * Figures of a measure over successful calls; the wait for a slot is over all calls. All but `n` are null if
 * `n` is 0.
 */
export const MeasureFigures = v.object({
  n: v.number(),
  avg: v.nullable(v.number()),
  p50: v.nullable(v.number()),
  p90: v.nullable(v.number()),
  p95: v.nullable(v.number()),
  p99: v.nullable(v.number()),
  max: v.nullable(v.number()),
})

export type MeasureFigures = Infer<typeof MeasureFigures>

/** Values of measures at `curvePercentiles`, over successful calls; empty if no call has the measure. */
export const Curves = v.object({
  duration_ms: v.array(v.number()),
  /** The time from dispatch to the first token. */
  ttft_ms: v.array(v.number()),
  output_tokens_per_s: v.array(v.number()),
})

export type Curves = Infer<typeof Curves>

/** The effect of a cache on a set of calls. */
export const CacheSums = v.object({
  /** Cached ÷ all input tokens; null without input tokens. */
  cached_share: v.nullable(v.number()),
  /**
   * The additional cost without a cache, by the prices of the calls' time; negative if the cache was written
   * at a higher price and hardly read. Null where no price has a rate for cached input.
   */
  cache_saved_usd: v.nullable(v.number()),
})

export type CacheSums = Infer<typeof CacheSums>

/** Sums of a set of calls: exact. */
export const CallTotals = v.object({
  ...CacheSums.entries,
  calls: v.number(),
  /** Calls that failed; those whose client left are none. */
  errors: v.number(),
  /** errors ÷ (calls − those whose client left); null where there is none to divide by. */
  error_rate: v.nullable(v.number()),
  input_tokens: v.number(),
  output_tokens: v.number(),
  cached_input_tokens: v.number(),
  cache_write_tokens: v.number(),
  reasoning_tokens: v.number(),
  total_tokens: v.number(),
  /** The cost of calls that have a price; null if none has. */
  cost_usd: v.nullable(v.number()),
  /** Calls with usage and no price. */
  unpriced_calls: v.number(),
  /** Calls without known usage and cost, refused and failed ones included. */
  no_usage_calls: v.number(),
})

export type CallTotals = Infer<typeof CallTotals>

/** The figures of a set of calls: sums are exact, percentiles exact or within 1%. */
export const GroupFigures = v.object({
  ...CallTotals.entries,
  duration_ms: MeasureFigures,
  /** The time from dispatch to the first token. */
  ttft_ms: MeasureFigures,
  /** The time from arrival to the first token, with the wait for a slot. */
  ttft_total_ms: MeasureFigures,
  queue_ms: MeasureFigures,
  tpot_ms: MeasureFigures,
  output_tokens_per_s: MeasureFigures,
})

export type GroupFigures = Infer<typeof GroupFigures>

/** Calls that can cost something, of one upstream and model: the asked and the answering one. */
export const ServedModel = v.object({
  upstream: v.nullable(v.string()),
  model: v.nullable(v.string()),
  response_model: v.nullable(v.string()),
  calls: v.number(),
  /** Calls with usage and no price. */
  unpriced_calls: v.number(),
  input_tokens: v.number(),
  output_tokens: v.number(),
  /** Null if none has a price. */
  cost_usd: v.nullable(v.number()),
})

export type ServedModel = Infer<typeof ServedModel>

/**
 * A session and the sums of all its recorded calls, not only of the matching ones; of over 100,000 calls, the
 * newest count. Times are ISO 8601, UTC.
 */
export const CallSession = v.object({
  ...CacheSums.entries,
  session: v.string(),
  /** The source of the last call's session, as with `client`. */
  session_source: v.nullable(v.string()),
  client: v.nullable(v.string()),
  /** The twenty with the most calls, those with more first. */
  models: v.array(v.string()),
  /** When the first call began. */
  first_at: v.string(),
  /** When the last call began. */
  last_at: v.string(),
  calls: v.number(),
  /** Calls that failed; those whose client left are none. */
  errors: v.number(),
  input_tokens: v.number(),
  output_tokens: v.number(),
  cached_input_tokens: v.number(),
  reasoning_tokens: v.number(),
  /** Tools that the answers asked for. */
  tool_calls: v.number(),
  /** The cost of calls that have a price; null if none has. */
  cost_usd: v.nullable(v.number()),
  /** Calls with usage and no price. */
  unpriced_calls: v.number(),
  /** From the head of the first call to the last byte of any call. */
  wall_ms: v.number(),
  /** The time in which at least one call was open. */
  in_calls_ms: v.number(),
  /** The rest: tools, the agent's own work, and its user. */
  between_ms: v.number(),
})

export type CallSession = Infer<typeof CallSession>
