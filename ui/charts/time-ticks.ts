import type { Times } from '../format/times.ts'

export interface TimeTick {
  readonly ms: number
  readonly words: string
}

const secondMs = 1000
const minuteMs = 60_000
const dayMinutes = 1440
/** Steps within a minute, in seconds. */
const secondSteps = [10, 15, 30] as const
/** Steps of the local clock, in minutes; from a day on whole days. */
const minuteSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 7200, 10_080, 43_200,
] as const

/** Times to be written under a plot, at most so many: round ones by the reader's clock, midnights by their date. */
export function timeTicks(times: Times, fromMs: number, toMs: number, most: number): readonly TimeTick[] {
  const spanMs = toMs - fromMs
  const seconds = secondSteps.find((step) => spanMs / (step * secondMs) <= most)
  if (seconds !== undefined) return secondTicks(times, fromMs, toMs, seconds * secondMs)
  const step =
    minuteSteps.find((step) => spanMs / (step * minuteMs) <= most) ?? Math.ceil(spanMs / minuteMs / most)
  return minuteTicks(times, fromMs, toMs, step)
}

/** Offsets of zones are whole minutes, so seconds are the same everywhere. */
function secondTicks(times: Times, fromMs: number, toMs: number, stepMs: number): TimeTick[] {
  const ticks: TimeTick[] = []
  for (let ms = Math.ceil(fromMs / stepMs) * stepMs; ms < toMs; ms += stepMs) {
    ticks.push({ ms, words: times.seconds(ms) })
  }
  return ticks
}

/** Walks from one round time to the next by what the clock shows, since clocks are changed now and then. */
function minuteTicks(times: Times, fromMs: number, toMs: number, step: number): TimeTick[] {
  const ticks: TimeTick[] = []
  const withinDay = Math.min(step, dayMinutes)
  let ms = Math.ceil(fromMs / minuteMs) * minuteMs
  while (ms < toMs) {
    const minute = minuteOfDay(times, ms)
    const past = minute % withinDay
    if (past !== 0) {
      ms += (withinDay - past) * minuteMs
      continue
    }
    ticks.push({ ms, words: minute === 0 ? times.day(ms) : times.clock(ms) })
    ms += step * minuteMs
  }
  return ticks
}

function minuteOfDay(times: Times, ms: number): number {
  const [hours = 0, minutes = 0] = times.clock(ms).split(':').map(Number)
  return hours * 60 + minutes
}
