import type { OverviewHeat } from '../api/overview.ts'

const steps = [1, 2, 5] as const

/** Limits of durations in milliseconds, from nothing to nearly three hours in steps that a person can read off an axis. */
export const heatLimitsMs: readonly number[] = [
  0,
  ...Array.from({ length: 7 }, (_, power) => steps.map((step) => step * 10 ** power)).flat(),
  10 ** 7,
]

/** The map of counts between {@link heatLimitsMs} by bucket of time, cut to the span that has calls. */
export function overviewHeat(counts: readonly (readonly number[])[]): OverviewHeat {
  const used = counts.flatMap((bucket) => bucket.flatMap((calls, bin) => (calls > 0 ? [bin] : [])))
  const first = used.reduce((least, bin) => Math.min(least, bin), heatLimitsMs.length)
  const past = used.reduce((most, bin) => Math.max(most, bin + 1), 0)
  return {
    limits_ms: used.length === 0 ? [] : heatLimitsMs.slice(first, past + 1),
    counts: counts.map((bucket) => {
      const end = bucket.findLastIndex((calls) => calls > 0)
      return bucket.slice(first, end + 1)
    }),
  }
}
