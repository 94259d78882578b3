import type { Overview } from '../../src/api/overview.ts'
import { heatLimitsMs } from '../../src/call/heat-limits.ts'
import { roundDuration } from '../format/figures.ts'

/** The number of calls by time and duration. */
export type Heat = Overview['heat']

/** The least number of rows. Fewer rows would be bars as high as the plot. */
const leastRows = 6

/** Returns a heat map with at least six rows, padded with empty bins. */
export function withRoom({ limits_ms: limits, counts }: Heat): Heat {
  let [first, past] = [heatLimitsMs.indexOf(limits[0] ?? -1), heatLimitsMs.indexOf(limits.at(-1) ?? -1) + 1]
  if (first < 0) return { limits_ms: limits, counts }
  while (past - first - 1 < leastRows) {
    if (past === heatLimitsMs.length || (first > 1 && (past - first) % 2 === 0)) first -= 1
    else past += 1
  }
  const room = Array.from({ length: heatLimitsMs.indexOf(limits[0] ?? -1) - first }, () => 0)
  return { limits_ms: heatLimitsMs.slice(first, past), counts: counts.map((column) => [...room, ...column]) }
}

/** Returns the largest count of a cell; 0 without cells. */
export function mostCalls({ counts }: Heat): number {
  return counts.reduce((most, column) => Math.max(most, ...column), 0)
}

/**
 * Returns the strength of a cell's colour, 0 to 1, on a logarithmic scale. A single call stays visible beside a
 * thousand.
 */
export function heatShare(count: number, most: number): number {
  if (count <= 0 || most <= 0) return 0
  return most === 1 ? 1 : 0.16 + 0.84 * (Math.log(count) / Math.log(most))
}

/** Returns the durations of a bin: `2 s to 5 s`, `under 1 ms`. */
export function binWords({ limits_ms: limits }: Heat, bin: number): string {
  const [from = 0, to = 0] = limits.slice(bin, bin + 2)
  return from === 0 ? `under ${roundDuration(to)}` : `${roundDuration(from)} to ${roundDuration(to)}`
}

/** Returns the limits to write at the side, each with its bin. With many bins, some are left out. */
export function heatTicks(
  { limits_ms: limits }: Heat,
  most: number,
): readonly { readonly bin: number; readonly ms: number }[] {
  const all = limits.map((ms, bin) => ({ bin, ms })).filter(({ ms }) => ms > 0)
  if (all.length <= most) return all
  const decades = all.filter(({ ms }) => /^10* \S+$/.test(roundDuration(ms)))
  const every = Math.ceil(decades.length / most)
  return decades.filter((_, index) => index % every === 0)
}
