import type { GroupFigures } from '../../src/call/figures.ts'
import { type CalendarUnit, bucketOfKey, calendarFrame } from '../charts/calendar-frame.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { type PageAddress, callsQuery } from '../data/page-address.ts'
import { boundsOf, questionTime } from '../data/page-range.ts'

/** A query for the number of calls over time, in about 24 to 220 buckets. */
export interface VolumeQuestion {
  readonly frame: TimeFrame
  readonly utc: boolean
  /** The width of a bucket, as in `Calls per 5 minutes`. */
  readonly stepWords: string
  readonly path: string
}

const hourMs = 3_600_000

export function volumeQuestion(address: PageAddress, nowMs: number, zone: string): VolumeQuestion {
  const bounds = boundsOf(address, nowMs)
  const lengthMs = bounds.toMs - bounds.fromMs
  const unit: CalendarUnit = lengthMs <= 8 * hourMs ? 'minute' : lengthMs <= 9 * 24 * hourMs ? 'hour' : 'day'
  const every = unit === 'minute' && lengthMs > 2 * hourMs ? 5 : 1
  return {
    frame: calendarFrame(bounds, unit, address.utc, every),
    utc: address.utc,
    stepWords: every === 1 ? unit : `${every} ${unit}s`,
    path: `/api/query?${callsQuery(address, questionTime(address, nowMs), { group_by: unit, tz: zone })}`,
  }
}

/** The calls of a bucket. */
export type VolumeBar = Pick<GroupFigures, 'calls' | 'errors'>

/** A group of the answer; `key` is the bucket's start. */
export interface VolumeGroup extends VolumeBar {
  readonly key: string
}

/** Returns a bar for each bucket. */
export function volumeBars(
  { frame, utc }: VolumeQuestion,
  groups: readonly VolumeGroup[],
): readonly VolumeBar[] {
  const bars = frame.startsMs.map(() => ({ calls: 0, errors: 0 }))
  for (const { key, calls, errors } of groups) {
    const bar = bars[bucketOfKey(frame, key, utc)]
    if (bar === undefined) continue
    bar.calls += calls
    bar.errors += errors
  }
  return bars
}
