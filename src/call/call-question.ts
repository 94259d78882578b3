import type { CallFilter } from './call-filter.ts'
import type { Curves, GroupFigures } from './figures.ts'

/** Fields to group calls by, besides time. Groups by `failure_code` hold failed calls only; `tags` are sets. */
export const callDimensions = [
  'model',
  'call_type',
  'outcome',
  'status',
  'client',
  'endpoint',
  'failure_code',
  'session',
  'upstream_name',
  'tags',
] as const

/** A field of calls. */
export type FieldDimension = (typeof callDimensions)[number]

/** A field, or the value of the tag with a key. */
export type CallDimension = FieldDimension | `tag:${string}`

/** The key of a dimension that is a tag; `null` of a field. */
export function tagOf(dimension: CallDimension | null): string | null {
  return dimension?.startsWith('tag:') === true ? dimension.slice(4) : null
}

/** The part before the first colon of `key:value`. */
export function tagKey(tag: string): string {
  return tag.split(':', 1)[0] ?? ''
}

/** True for a dimension with any number of values. Values beyond `top` are merged before calls are counted. */
export function isUnbounded(dimension: CallDimension | null): boolean {
  return dimension === 'session' || dimension === 'tags' || tagOf(dimension) !== null
}

/** A question about many calls at once. */
export interface CallQuestion {
  /** Selects the calls. `fromMs` and `toMs` of the filter are ignored: `edgesMs` is the range. */
  readonly filter: CallFilter
  /**
   * Rising instants in milliseconds since the Unix epoch, at least two: each bucket of time reaches from one
   * (inclusive) to the next (exclusive).
   */
  readonly edgesMs: readonly number[]
  readonly dimension: CallDimension | null
  /** How many values to list: those with the most calls over all buckets. The others become the rest. */
  readonly top?: number
  /**
   * Rising limits in milliseconds. Each group counts its successful calls from one limit (inclusive) to the
   * next, within 1%. Calls beyond both ends count in the bins there.
   */
  readonly durationLimitsMs?: readonly number[]
  /** Leaves out times and speeds, which are most of the work. The answer may have them as if there were no call. */
  readonly isSumsOnly?: true
  /** Computes times and speeds of failed calls, which are read one by one. The filter must select only failed calls. */
  readonly timesFailed?: true
  /** Adds {@link Curves} to each group. */
  readonly withCurves?: true
}

/** The percentiles of {@link Curves}. */
export const curvePercentiles = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99] as const

/** The measures of an answer: times and speeds. */
export const callMeasures = [
  'duration_ms',
  'ttft_ms',
  'ttft_total_ms',
  'queue_ms',
  'tpot_ms',
  'output_tokens_per_s',
] as const satisfies readonly (keyof GroupFigures)[]

/** The calls of one bucket of time and one value of the dimension. */
export interface CallGroup {
  /** Index of the bucket, which begins at `edgesMs[bucket]`. */
  readonly bucket: number
  /** The value of the dimension, such as a model or a status; null for calls without one, or without a dimension. */
  readonly value: string | number | null
  /** True for the rest: all values beyond `top`. `value` is then null. */
  readonly isRest: boolean
  readonly figures: GroupFigures
  /** Calls between the question's `durationLimitsMs`: one number less than limits; absent without limits. */
  readonly durationCounts?: readonly number[]
  /** The curves, if the question asks for them. */
  readonly curves?: Curves
}

/** The groups that have a call, by time and then by most calls, and the summary of all of them. */
export interface CallAnswer {
  readonly groups: readonly CallGroup[]
  readonly summary: GroupFigures
}
