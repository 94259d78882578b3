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

/** Dimensions with any number of values: those beyond `top` are put together before they are counted. */
export function isUnbounded(dimension: CallDimension | null): boolean {
  return dimension === 'session' || dimension === 'tags' || tagOf(dimension) !== null
}

/** A question about many calls at once. */
export interface CallQuestion {
  /** The filter's `fromMs` and `toMs` are ignored: the edges are the time. */
  readonly filter: CallFilter
  /**
   * Rising instants in milliseconds since the Unix epoch, at least two: each bucket of time reaches from one
   * (inclusive) to the next (exclusive).
   */
  readonly edgesMs: readonly number[]
  readonly dimension: CallDimension | null
  /** The number of values with the most calls over all buckets; the others are put together as the rest. */
  readonly top?: number
  /**
   * Rising limits in milliseconds: each group has the number of successful calls between them, from
   * one limit (inclusive) to the next. Within 1%; what lies beyond both ends counts in the bins there.
   */
  readonly durationLimitsMs?: readonly number[]
  /** Leaves times and speeds out, which are most of the work: the answer may have them as of no call. */
  readonly isSumsOnly?: true
  /** Times and speeds are of failed calls, which are read one by one; the filter must select failed calls alone. */
  readonly timesFailed?: true
  /** Adds {@link Curves} to each group. */
  readonly withCurves?: true
}

/** The percentiles of {@link Curves}. */
export const curvePercentiles = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99] as const

/** The answered figures of times and speeds. */
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
  /** The model's name, the status, …; null for calls that have none, and where nothing was grouped by. */
  readonly value: string | number | null
  /** True if these are the values beyond `top`, put together; `value` is then null. */
  readonly isRest: boolean
  readonly figures: GroupFigures
  /** Calls between the question's `durationLimitsMs`, one number less than those; absent where it has none. */
  readonly durationCounts?: readonly number[]
  /** The curves, if the question asks for them. */
  readonly curves?: Curves
}

/** Only groups that hold a call, in the order of time and then with the most calls first; and all of them together. */
export interface CallAnswer {
  readonly groups: readonly CallGroup[]
  readonly summary: GroupFigures
}
