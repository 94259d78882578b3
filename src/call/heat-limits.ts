/** Limits of the duration bins in milliseconds, from 0 to three hours, in steps that are easy to read off an axis. */
export const heatLimitsMs: readonly number[] = [
  0,
  ...[1, 10, 100, 1000].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 20, 60, 120, 300, 600, 1200, 3600, 7200, 10_800].map((s) => s * 1000),
]
