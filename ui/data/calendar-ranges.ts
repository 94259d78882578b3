import { instantOfWallTime, wallTimeOf } from '../format/wall-time.ts'

/** Ranges of the calendar, in the reader's zone or in UTC. */
export const calendarRanges = ['Today', 'Yesterday', 'This month', 'Last month'] as const

export type CalendarRange = (typeof calendarRanges)[number]

/** Milliseconds since the Unix epoch, the second exclusive. */
export interface CalendarBounds {
  readonly fromMs: number
  readonly toMs: number
}

/** True for the very day before this one. */
export function isYesterday(range: CalendarBounds | object, nowMs: number, utc: boolean): boolean {
  const { fromMs, toMs } = calendarBounds('Yesterday', nowMs, utc)
  return 'fromMs' in range && range.fromMs === fromMs && range.toMs === toMs
}

/** Start and end of a range; ranges that are not over end now. */
export function calendarBounds(range: CalendarRange, nowMs: number, utc: boolean): CalendarBounds {
  const [year = 0, month = 0, day = 0] = wallTimeOf(nowMs, utc).slice(0, 10).split('-').map(Number)
  const startOf = (monthIndex: number, dayOfMonth: number): number =>
    instantOfWallTime(new Date(Date.UTC(year, monthIndex, dayOfMonth)).toISOString().slice(0, 16), utc) ??
    nowMs
  const [today, thisMonth] = [startOf(month - 1, day), startOf(month - 1, 1)]
  switch (range) {
    case 'Today':
      return { fromMs: today, toMs: Math.max(nowMs, today + 1) }
    case 'Yesterday':
      return { fromMs: startOf(month - 1, day - 1), toMs: today }
    case 'This month':
      return { fromMs: thisMonth, toMs: Math.max(nowMs, thisMonth + 1) }
    default:
      return { fromMs: startOf(month - 2, 1), toMs: thisMonth }
  }
}
