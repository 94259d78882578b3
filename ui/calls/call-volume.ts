import { type CalendarUnit, bucketOfKey, calendarFrame } from '../charts/calendar-frame.ts'
import type { Bounds, TimeFrame } from '../charts/time-frame.ts'
import { type PageAddress, callsQuery } from '../data/page-address.ts'
import { boundsOf, questionTime, timeIn } from '../data/page-range.ts'
import type { GroupFigures } from '../../src/call/figures.ts'

const hourMs = 3_600_000

/** Returns the unit and the number of units of a bucket, so that there are about 24 to 220 buckets. */
function stepOf({ fromMs, toMs }: Bounds): readonly [unit: CalendarUnit, every: number] {
  const lengthMs = toMs - fromMs
  if (lengthMs <= 8 * hourMs) return ['minute', lengthMs > 2 * hourMs ? 5 : 1]
  return [lengthMs <= 9 * 24 * hourMs ? 'hour' : 'day', 1]
}

/** Returns the API path for the number of calls over time. */
export function volumePath(address: PageAddress, nowMs: number, zone: string): string {
  const [unit] = stepOf(boundsOf(address, nowMs))
  return `/api/query?${callsQuery(address, questionTime(address, nowMs), { group_by: unit, tz: zone })}`
}

/** A group of the answer; `key` is the bucket's start. */
export interface VolumeGroup extends Pick<GroupFigures, 'calls' | 'errors'> {
  readonly key: string
}

/** The numbers of calls and of failed calls in each bucket. */
export interface CallVolume {
  readonly frame: TimeFrame
  /** The width of a bucket, as in `Calls per 5 minutes`. */
  readonly stepWords: string
  readonly calls: readonly number[]
  readonly errors: readonly number[]
}

/** Returns the calls over the time of a path, whose open end is `nowMs`. */
export function callVolume(path: string, nowMs: number, groups: readonly VolumeGroup[]): CallVolume {
  const { utc, ...bounds } = timeIn(path, nowMs)
  const [unit, every] = stepOf(bounds)
  const frame = calendarFrame(bounds, unit, utc, every)
  const calls = frame.startsMs.map(() => 0)
  const errors = [...calls]
  for (const group of groups) {
    const at = bucketOfKey(frame, group.key, utc)
    if (at < 0) continue
    calls[at] = (calls[at] ?? 0) + group.calls
    errors[at] = (errors[at] ?? 0) + group.errors
  }
  return { frame, stepWords: every === 1 ? unit : `${every} ${unit}s`, calls, errors }
}
