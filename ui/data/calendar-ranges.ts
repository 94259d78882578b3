import { instantOfWallTime, wallTimeOf } from '../format/wall-time.ts'

/** Ranges of the calendar, in the reader's zone or in UTC. */
export const calendarRanges = ['Today', 'Yesterday', 'This month', 'Last month'] as const

/** Start and end in milliseconds since the Unix epoch; the end is exclusive. */
export interface Bounds {
  readonly fromMs: number
  readonly toMs: number
}

export type CalendarRange = (typeof calendarRanges)[number]

/** True if the range is exactly the day before today. */
export function isYesterday(range: Bounds | object, nowMs: number, utc: boolean): boolean {
  const { fromMs, toMs } = calendarBounds('Yesterday', nowMs, utc)
  return 'fromMs' in range && range.fromMs === fromMs && range.toMs === toMs
}

/** Returns start and end of a range. A range that is not over ends now. */
export function calendarBounds(range: CalendarRange, nowMs: number, utc: boolean): Bounds {
  const [year = 0, month = 0, day = 0] = wallTimeOf(nowMs, utc).slice(0, 10).split('-').map(Number)
  const startOf = (monthIndex: number, dayOfMonth: number): number =>
    instantOfWallTime(new Date(Date.UTC(year, monthIndex, dayOfMonth)).toISOString().slice(0, 16), utc) ??
    nowMs
  const [today, thisMonth] = [startOf(month - 1, day), startOf(month - 1, 1)]
  const bounds: Readonly<Record<CalendarRange, readonly [fromMs: number, toMs: number]>> = {
    Today: [today, Math.max(nowMs, today + 1)],
    Yesterday: [startOf(month - 1, day - 1), today],
    'This month': [thisMonth, Math.max(nowMs, thisMonth + 1)],
    'Last month': [startOf(month - 2, 1), thisMonth],
  }
  const [fromMs, toMs] = bounds[range]
  return { fromMs, toMs }
}
