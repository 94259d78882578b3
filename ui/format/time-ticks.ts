import type { Times } from './times.ts'
import { wallTimeOf } from './wall-time.ts'

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

const longestMonthMs = 31 * daySeconds * secondMs

/**
 * Returns round times in the reader's zone, about `most` of them. Midnights are dates, and long ranges have the first
 * days of months.
 */
export function timeTicks(times: Times, fromMs: number, toMs: number, most: number): readonly TimeTick[] {
  const eachMs = (toMs - fromMs) / most
  if (eachMs <= 14 * daySeconds * secondMs)
    return roundTimes(times, fromMs, toMs, roundStep(eachMs / secondMs))
  const least = eachMs / longestMonthMs
  const step = [1, 2, 3, 6, 12].find((months) => months >= least) ?? 12 * Math.ceil(least / 12)
  const [year = 0, month = 0] = wallTimeOf(fromMs, times.suffix !== '')
    .split('-')
    .map(Number)
  const ticks: TimeTick[] = []
  for (let at = Math.floor((12 * year + month - 1) / step) * step; ; at += step) {
    const ms = times.dayStartMs(new Date(Date.UTC(at / 12, at % 12)).toISOString().slice(0, 10))
    if (ms >= toMs) return ticks
    if (ms >= fromMs) ticks.push({ ms, words: times.day(ms) })
  }
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
    const past = secondOfDay(times, ms) % withinDay
    // Clocks that go forward at midnight skip it, so that the day begins later.
    const isNewDay = times.day(ms) !== times.day(ms - secondMs)
    if (past === 0 || isNewDay) {
      const words = step < 60 ? times.seconds(ms) : isNewDay ? times.day(ms) : times.clock(ms)
      ticks.push({ ms, words })
    }
    ms += (past === 0 ? step : withinDay - past) * secondMs
  }
  return ticks
}

function secondOfDay(times: Times, ms: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = times.seconds(ms).split(':').map(Number)
  return (hours * 60 + minutes) * 60 + seconds
}
