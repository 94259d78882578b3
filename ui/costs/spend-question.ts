import type { CalendarUnit } from '../charts/calendar-frame.ts'
import type { Bounds } from '../charts/time-frame.ts'
import { type CompareBy, type PageAddress, callsQuery, compareWords } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Beyond it, days with a dimension would be more groups than an answer may hold. */
const mostKindsMs = 230 * dayMs

/** Questions within this time are equal, so that the figures of a view are of one time. */
const stepMs = 10_000

/** The bars of a range: no more than about a hundred, as wide as people think of money. */
export function unitOf({ fromMs, toMs }: Bounds): CalendarUnit {
  const lengthMs = toMs - fromMs
  if (lengthMs <= 1.7 * hourMs) return 'minute'
  return lengthMs <= 4 * dayMs ? 'hour' : 'day'
}

/** True if the range is too long to split by model or client. */
export function isTooLong({ fromMs, toMs }: Bounds): boolean {
  return toMs - fromMs > mostKindsMs
}

/** The time of an address, as all questions of the view ask for it. */
export function spendBounds(address: PageAddress, nowMs: number): Bounds {
  const { fromMs, toMs } = boundsOf(address, Math.ceil(nowMs / stepMs) * stepMs)
  return { fromMs, toMs }
}

/** The period of the same length just before. */
export function boundsBefore({ fromMs, toMs }: Bounds): Bounds {
  return { fromMs: Math.max(0, 2 * fromMs - toMs), toMs: fromMs }
}

/** The spend of a time; null if recording did not reach across all of it: that compares with nothing. */
export function comparable<Answer extends { readonly recorded_from: string | null }>(
  answer: Answer | null,
  { fromMs }: Bounds,
): Answer | null {
  const first = answer?.recorded_from ?? null
  return first !== null && Date.parse(first) <= fromMs ? answer : null
}

/** Figures by model or client, or over time. */
export function spendPath(address: PageAddress, bounds: Bounds, groupBy: string, zone: string): string {
  const inZone = groupBy in compareWords ? {} : { tz: zone }
  return `/api/query?${callsQuery(address, bounds, { group_by: groupBy, measures: 'none', ...inZone })}`
}

/** The figures over time, by model or client unless the time is too long for that. */
export function courseGroups(bounds: Bounds, by: CompareBy): string {
  return isTooLong(bounds) ? unitOf(bounds) : `${unitOf(bounds)},${by}`
}
