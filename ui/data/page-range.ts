import { type Bounds, type CalendarRange, calendarBounds } from './calendar-ranges.ts'

/** Ranges that end now, by their length in milliseconds; those of the calendar by their longest. */
export const lastRanges = {
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
  today: 86_400_000,
  month: 2_592_000_000,
} as const

export type LastRange = keyof typeof lastRanges

/** Either a time that ends now, or two instants in milliseconds since the Unix epoch, the second exclusive. */
export type Range =
  | { readonly last: LastRange }
  | { readonly last: null; readonly fromMs: number; readonly toMs: number }

interface RangeAndZone {
  readonly range: Range
  readonly utc: boolean
}

/** A range of the calendar. Those that are not over always end now. */
export function calendarRange(range: CalendarRange, nowMs: number, utc: boolean): Range {
  if (range === 'Today') return { last: 'today' }
  if (range === 'This month') return { last: 'month' }
  return { last: null, ...calendarBounds(range, nowMs, utc) }
}

/** Start and end of a range, in milliseconds since the Unix epoch. */
export function boundsOf({ range, utc }: RangeAndZone, nowMs: number): Bounds {
  if (range.last === null) return range
  if (range.last === 'today') return calendarBounds('Today', nowMs, utc)
  if (range.last === 'month') return calendarBounds('This month', nowMs, utc)
  return { fromMs: nowMs - lastRanges[range.last], toMs: nowMs }
}

/** The time of a question, in milliseconds since the Unix epoch; without an end if `toMs` is null. */
export interface QuestionTime {
  readonly fromMs: number
  readonly toMs: number | null
}

/** The time of a question about a range. A range that ends now has no end: the newest calls by another clock belong to it, too. */
export function questionTime(address: RangeAndZone, nowMs: number): QuestionTime {
  const { fromMs, toMs } = boundsOf(address, nowMs)
  return { fromMs, toMs: address.range.last === null ? toMs : null }
}

/** The parameters of a time. */
export function timeQuery({ fromMs, toMs }: QuestionTime): URLSearchParams {
  const query = new URLSearchParams({ from: new Date(fromMs).toISOString() })
  if (toMs !== null) query.set('to', new Date(toMs).toISOString())
  return query
}

/**
 * The interval at which figures of a range are loaded again, in milliseconds; null where a loaded answer stays as
 * it is. The longer the range, the less a minute changes in it.
 */
export function refreshEveryMs(range: Range): number | null {
  if (range.last === null) return null
  const lengthMs = lastRanges[range.last]
  if (lengthMs <= lastRanges['1h']) return 10_000
  return lengthMs <= lastRanges['24h'] ? 30_000 : 300_000
}
