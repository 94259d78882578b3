import { type Bounds, type TimeFrame, bucketAt } from './time-frame.ts'

/** A step of the calendar by which the dashboard groups calls. */
export type CalendarUnit = 'minute' | 'hour' | 'day'

const msOf: Readonly<Record<CalendarUnit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Buckets that begin with the minutes, hours or days of the reader's clock, or of UTC; of minutes with each `every`th. */
export function calendarFrame(
  { fromMs, toMs }: Bounds,
  unit: CalendarUnit,
  utc: boolean,
  every = 1,
): TimeFrame {
  const bucketMs = msOf[unit] * every
  const startsMs: number[] = []
  for (let at = startOf(fromMs, unit, utc, bucketMs); at < toMs; at = nextOf(at, unit, utc, bucketMs)) {
    startsMs.push(at)
  }
  return { fromMs, toMs, startsMs, bucketMs }
}

/** The bucket of a group of an answer. Minutes and hours are named with their offset, days as `2026-11-21`. */
export function bucketOfKey(frame: TimeFrame, key: string, utc: boolean): number {
  // A day is the bucket that has its date at noon.
  const text = key.length > 10 ? key : `${key}T12:00:00${utc ? 'Z' : ''}`
  return bucketAt(frame, Date.parse(text))
}

function startOf(ms: number, unit: CalendarUnit, utc: boolean, bucketMs: number): number {
  // The offsets of all zones are whole quarter hours.
  if (utc || unit === 'minute') return ms - (ms % bucketMs)
  const date = new Date(ms)
  if (unit === 'day') date.setHours(0, 0, 0, 0)
  else date.setMinutes(0, 0, 0)
  return date.getTime()
}

/** A local day may be longer or shorter, when the clocks change. */
function nextOf(ms: number, unit: CalendarUnit, utc: boolean, bucketMs: number): number {
  if (utc || unit !== 'day') return ms + bucketMs
  const date = new Date(ms)
  date.setDate(date.getDate() + 1)
  return date.getTime()
}
