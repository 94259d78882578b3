/** The fewest calls for each percentile. With fewer calls, the percentile is just the slowest call. */
export const minSample = { p50: 5, p90: 10, p95: 20, p99: 100 } as const

export type Percentile = keyof typeof minSample

/** Returns a percentile, or null if `n` calls are too few for it. */
export function honest(percentile: Percentile, value: number | null, n: number): number | null {
  return n >= minSample[percentile] ? value : null
}

/** Returns the percentiles of all buckets, with null for buckets of too few calls. */
export function withEnoughCalls(
  percentile: Percentile,
  values: readonly (number | null)[],
  counts: readonly number[],
): readonly (number | null)[] {
  return values.map((value, index) => honest(percentile, value, counts[index] ?? 0))
}

/** Returns the reason that a bucket has no percentile; null for a bucket without calls. */
export function whyMissing(percentile: Percentile, n: number): string | null {
  return n === 0 ? null : `needs ${minSample[percentile]} calls`
}
