import { drawFrom, integerBetween, type Random } from './random.ts'

const minutesPerDay = 1440

/**
 * Calls that are expected in each minute, together `calls`: people at work by day and less at weekends, jobs by night,
 * growth over the weeks, and bursts of some minutes. `firstMinute` is local time, in minutes since the Unix epoch.
 */
export function pastLoad(
  random: Random,
  {
    calls,
    firstMinute,
    minutes,
  }: { readonly calls: number; readonly firstMinute: number; readonly minutes: number },
  isStopped: (index: number) => boolean,
): Float64Array {
  let [dayNoise, hourNoise, burst, burstMinutes] = [1, 1, 1, 0]
  const weights = Float64Array.from({ length: minutes }, (_, i) => {
    const minute = firstMinute + i
    if (i === 0 || minute % minutesPerDay === 0) dayNoise = drawFrom(random, { median: 1, sigma: 0.15 })
    if (i === 0 || minute % 60 === 0) hourNoise = drawFrom(random, { median: 1, sigma: 0.2 })
    if (burstMinutes > 0) burstMinutes--
    else if (random() < 1 / 400) {
      burstMinutes = integerBetween(random, 4, 25)
      burst = 1.5 + 2.5 * random()
    } else burst = 1
    const noise = drawFrom(random, { median: 1, sigma: 0.3 }) * hourNoise * dayNoise
    return isStopped(i) ? 0 : usualLoad(minute) * (1 + (0.8 * i) / minutes) * burst * noise
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => (calls * weight) / total)
}

/** True in the hours of the jobs that fill search indexes. */
export function isNight(minute: number): boolean {
  const hour = Math.floor((minute % minutesPerDay) / 60)
  return hour >= 1 && hour < 5
}

function usualLoad(minute: number): number {
  const hour = (minute % minutesPerDay) / 60
  // 1970-01-01 was a Thursday.
  const weekday = (Math.floor(minute / minutesPerDay) + 4) % 7
  const isWeekend = weekday === 0 || weekday === 6
  const people = bump(hour, 10, 2.2) + bump(hour, 14.5, 2.4) + 0.35 * bump(hour, 20, 1.8)
  return 0.12 + people * (isWeekend ? 0.3 : 1) + 0.4 * bump(hour, 2.5, 0.7)
}

function bump(hour: number, middle: number, width: number): number {
  return Math.exp(-(((hour - middle) / width) ** 2))
}
