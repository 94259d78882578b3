import type { Times } from './times.ts'

/** A tick of the time axis. */
export interface TimeTick {
  readonly ms: number
  readonly words: string
}

const secondMs = 1000
const daySeconds = 86_400
/** The usual steps in seconds of the local clock. From a day on, steps are whole days. */
const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400,
  172_800, 432_000, 604_800, 1_209_600, 2_592_000,
] as const

/** Returns the shortest usual step of at least `leastS` seconds, in seconds. */
export function roundStep(leastS: number): number {
  return steps.find((step) => step >= leastS) ?? 60 * Math.ceil(leastS / 60)
}

/** Returns at most `most` round times in the reader's zone. Midnights are dates. */
export function timeTicks(times: Times, fromMs: number, toMs: number, most: number): readonly TimeTick[] {
  return roundTimes(times, fromMs, toMs, roundStep((toMs - fromMs) / secondMs / most))
}

/**
 * Returns the times of a step, which is in seconds. The search goes from one round local time to the next, because
 * clocks change twice a year.
 */
export function roundTimes(times: Times, fromMs: number, toMs: number, step: number): readonly TimeTick[] {
  const withinDay = Math.min(step, daySeconds)
  const grainMs = (step < 60 ? 1 : 60) * secondMs
  const ticks: TimeTick[] = []
  let ms = Math.ceil(fromMs / grainMs) * grainMs
  while (ms < toMs) {
    const second = secondOfDay(times, ms)
    const past = second % withinDay
    if (past !== 0) {
      ms += (withinDay - past) * secondMs
      continue
    }
    const words = step < 60 ? times.seconds(ms) : second === 0 ? times.day(ms) : times.clock(ms)
    ticks.push({ ms, words })
    ms += step * secondMs
  }
  return ticks
}

function secondOfDay(times: Times, ms: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = times.seconds(ms).split(':').map(Number)
  return (hours * 60 + minutes) * 60 + seconds
}
