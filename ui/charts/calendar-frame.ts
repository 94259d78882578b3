import { type Bounds, type TimeFrame, bucketAt } from './time-frame.ts'

/** A unit of the calendar by which the dashboard groups calls. */
export type CalendarUnit = 'minute' | 'hour' | 'day'

const msOf: Readonly<Record<CalendarUnit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/**
 * Returns buckets that begin with the minutes, hours or days of the reader's clock or of UTC. With minutes, each
 * bucket has `every` of them.
 */
export function calendarFrame(
  { fromMs, toMs }: Bounds,
  unit: CalendarUnit,
  utc: boolean,
  every = 1,
): TimeFrame {
  const bucketMs = msOf[unit] * every
  const date = new Date(fromMs)
  // The offsets of all zones are whole quarter hours, so minutes need no zone.
  if (utc || unit === 'minute') date.setTime(fromMs - (fromMs % bucketMs))
  else if (unit === 'day') date.setHours(0, 0, 0, 0)
  else date.setMinutes(0, 0, 0)
  const startsMs: number[] = []
  while (date.getTime() < toMs) {
    startsMs.push(date.getTime())
    // A local day is longer or shorter when the clocks change.
    if (unit === 'day' && !utc) {
      date.setDate(date.getDate() + 1)
      // If clocks go forward at midnight, one day begins at one o'clock, and the next day at midnight again.
      date.setHours(0, 0, 0, 0)
    } else date.setTime(date.getTime() + bucketMs)
  }
  return { fromMs, toMs, startsMs, bucketMs }
}

/**
 * Returns the index of a group's bucket. The keys of minutes and hours have an offset; the keys of days are dates
 * (`2026-11-21`).
 */
export function bucketOfKey(frame: TimeFrame, key: string, utc: boolean): number {
  // A day belongs to the bucket that has its date at noon.
  const text = key.length > 10 ? key : `${key}T12:00:00${utc ? 'Z' : ''}`
  return bucketAt(frame, Date.parse(text))
}
