import type { Times } from '../format/times.ts'
import { type TimeFrame, wholeBucket } from './time-frame.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

/** Returns the start of a bucket: `12:30`, or with its day if the range is longer than a day. */
export function bucketStart(times: Times, frame: TimeFrame, index: number): string {
  return frame.names?.[index]?.[0] ?? instantWords(times, frame, wholeBucket(frame, index).fromMs)
}

/** Returns the start and end of a bucket: `12:30 – 12:45`, `20 Nov, 12:30 – 12:45`, `21 Nov`. */
export function bucketSpan(times: Times, frame: TimeFrame, index: number): string {
  const { fromMs, toMs } = wholeBucket(frame, index)
  const name = frame.names?.[index]?.[1]
  if (name !== undefined) return name
  // A day is an hour shorter or longer when clocks change, and still is a whole day.
  if (frame.bucketMs >= dayMs) {
    const last = times.day(toMs - minuteMs)
    return last === times.day(fromMs) ? last : `${times.day(fromMs)} – ${last}`
  }
  const end = frame.bucketMs < minuteMs ? times.seconds(toMs) : times.clock(toMs)
  return `${instantWords(times, frame, fromMs)} – ${end}${times.suffix}`
}

/** Returns the start and end of a selection. */
export function spanWords(times: Times, frame: TimeFrame, fromMs: number, toMs: number): string {
  return `${instantWords(times, frame, fromMs)} – ${instantWords(times, frame, toMs)}${times.suffix}`
}

function instantWords(times: Times, frame: TimeFrame, ms: number): string {
  if (frame.bucketMs >= dayMs) return times.day(ms)
  if (frame.bucketMs < minuteMs) return times.seconds(ms)
  return frame.toMs - frame.fromMs > 1.1 * dayMs ? times.dayAndClock(ms) : times.clock(ms)
}
