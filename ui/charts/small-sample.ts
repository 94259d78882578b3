/**
 * The fewest calls for each percentile. With fewer, the percentile would be the slowest call under
 * another name.
 */
export const minSample = { p50: 5, p90: 10, p95: 20, p99: 100 } as const

export type Percentile = keyof typeof minSample

/** A percentile, or null where it is of too few calls. */
export function honest(percentile: Percentile, value: number | null, n: number): number | null {
  return n >= minSample[percentile] ? value : null
}

/** The percentiles of all buckets, null where there are too few calls. */
export function withEnoughCalls(
  percentile: Percentile,
  values: readonly (number | null)[],
  counts: readonly number[],
): readonly (number | null)[] {
  return values.map((value, index) => honest(percentile, value, counts[index] ?? 0))
}

/** Why a bucket has no percentile; null for a bucket without calls. */
export function whyMissing(percentile: Percentile, n: number): string | null {
  return n === 0 ? null : `needs ${minSample[percentile]} calls`
}
