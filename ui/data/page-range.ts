import { type Bounds, type CalendarRange, calendarBounds } from './calendar-ranges.ts'

/** The ranges that end now, with their lengths in milliseconds; calendar ranges with the greatest length. */
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

/** A range that ends now, or two instants in milliseconds since the Unix epoch. The second instant is exclusive. */
export type Range =
  | { readonly last: LastRange }
  | { readonly last: null; readonly fromMs: number; readonly toMs: number }

interface RangeAndZone {
  readonly range: Range
  readonly utc: boolean
}

/** Returns a calendar range. `Today` and `This month` always end now. */
export function calendarRange(range: CalendarRange, nowMs: number, utc: boolean): Range {
  if (range === 'Today') return { last: 'today' }
  if (range === 'This month') return { last: 'month' }
  return { last: null, ...calendarBounds(range, nowMs, utc) }
}

/** Returns start and end of a range, in milliseconds since the Unix epoch. */
export function boundsOf({ range, utc }: RangeAndZone, nowMs: number): Bounds {
  if (range.last === null) return range
  if (range.last === 'today') return calendarBounds('Today', nowMs, utc)
  if (range.last === 'month') return calendarBounds('This month', nowMs, utc)
  return { fromMs: nowMs - lastRanges[range.last], toMs: nowMs }
}

/** The time of a request, in milliseconds since the Unix epoch. Without an end, `toMs` is null. */
export interface QuestionTime {
  readonly fromMs: number
  readonly toMs: number | null
}

/**
 * Returns the time of a request for a range. If the range ends now, the end is open, so that the newest calls by
 * another clock are included.
 */
export function questionTime(address: RangeAndZone, nowMs: number): QuestionTime {
  const { fromMs, toMs } = boundsOf(address, nowMs)
  return { fromMs, toMs: address.range.last === null ? toMs : null }
}

/** Returns the time in the path of a request, and whether the path is of UTC. An open end is `nowMs`. */
export function timeIn(path: string, nowMs: number): Bounds & { readonly utc: boolean } {
  const query = new URLSearchParams(path.split('?')[1])
  const to = query.get('to')
  return {
    fromMs: Date.parse(query.get('from') ?? ''),
    toMs: to === null ? nowMs : Date.parse(to),
    utc: query.get('tz') === 'UTC',
  }
}

/** Returns the API's parameters for a time. */
export function timeQuery({ fromMs, toMs }: QuestionTime): URLSearchParams {
  const query = new URLSearchParams({ from: new Date(fromMs).toISOString() })
  if (toMs !== null) query.set('to', new Date(toMs).toISOString())
  return query
}

/**
 * Returns the interval in milliseconds at which a range's figures are loaded again; null for a range in the past. A
 * long range changes less in a minute, so its interval is longer.
 */
export function refreshEveryMs(range: Range): number | null {
  if (range.last === null) return null
  const lengthMs = lastRanges[range.last]
  if (lengthMs <= lastRanges['1h']) return 10_000
  return lengthMs <= lastRanges['24h'] ? 30_000 : 300_000
}
