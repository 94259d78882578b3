import type { CalendarUnit } from '../charts/calendar-frame.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type CompareBy, type PageAddress, callsQuery, compareWords } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A longer range is not split by day and group, because the answer would have too many groups. */
const mostKindsMs = 230 * dayMs

/** Requests within this time use the same range, so that all figures of a view cover the same time. */
const stepMs = 10_000

/** Returns the unit of a range's bars, so that a chart has about a hundred bars at most. */
export function unitOf({ fromMs, toMs }: Bounds): CalendarUnit {
  const lengthMs = toMs - fromMs
  if (lengthMs <= 1.7 * hourMs) return 'minute'
  return lengthMs <= 4 * dayMs ? 'hour' : 'day'
}

/** True if the range is too long to split by group. */
export function isTooLong({ fromMs, toMs }: Bounds): boolean {
  return toMs - fromMs > mostKindsMs
}

/** Returns the range of an address for all requests of the view. */
export function spendBounds(address: PageAddress, nowMs: number): Bounds {
  const { fromMs, toMs } = boundsOf(address, Math.ceil(nowMs / stepMs) * stepMs)
  return { fromMs, toMs }
}

/** Returns the period of the same length just before. */
export function boundsBefore({ fromMs, toMs }: Bounds): Bounds {
  return { fromMs: Math.max(0, 2 * fromMs - toMs), toMs: fromMs }
}

/** Returns the answer of a period; null if recording began after its start, because its sums are then incomplete. */
export function comparable<Answer extends { readonly recorded_from: string | null }>(
  answer: Answer | null,
  { fromMs }: Bounds,
): Answer | null {
  const first = answer?.recorded_from ?? null
  return first !== null && Date.parse(first) <= fromMs ? answer : null
}

/** Returns the API path for spend, grouped by `groupBy`. */
export function spendPath(address: PageAddress, bounds: Bounds, groupBy: string, zone: string): string {
  const inZone = groupBy in compareWords ? {} : { tz: zone }
  return `/api/query?${callsQuery(address, bounds, { group_by: groupBy, measures: 'none', ...inZone })}`
}

/** Returns the grouping of spend over time: by time and group, or by time alone if the range is too long. */
export function courseGroups(bounds: Bounds, by: CompareBy): string {
  return isTooLong(bounds) ? unitOf(bounds) : `${unitOf(bounds)},${by}`
}
