import { drawFrom, integerBetween, type Random } from '../../src/demo/random.ts'
import { type Incident, incidentsAt } from './incidents.ts'

const minutesPerDay = 1440

/** Number of calls that arrive in each minute from `firstMinute` on; together exactly `calls`. */
export interface LoadShape {
  readonly firstMinute: number
  readonly counts: Uint32Array
}

/** People at work by day and less at weekends, jobs by night, growth over the weeks, and bursts of some minutes. */
export function loadShape(
  random: Random,
  calls: number,
  firstMinute: number,
  minutes: number,
  incidents: readonly Incident[],
): LoadShape {
  const weights = new Float64Array(minutes)
  let dayNoise = 1
  let hourNoise = 1
  let burst = 1
  let burstMinutes = 0
  for (let i = 0; i < minutes; i++) {
    const minute = firstMinute + i
    if (i === 0 || minute % minutesPerDay === 0) dayNoise = drawFrom(random, { median: 1, sigma: 0.15 })
    if (i === 0 || minute % 60 === 0) hourNoise = drawFrom(random, { median: 1, sigma: 0.2 })
    if (burstMinutes > 0) burstMinutes--
    else if (random() < 1 / 400) {
      burstMinutes = integerBetween(random, 4, 25)
      burst = 2 + 6 * random()
    } else burst = 1
    const growth = 1 + (0.8 * i) / minutes
    const isOut = incidentsAt(incidents, minute).some(({ kind }) => kind === 'stopped')
    const noise = drawFrom(random, { median: 1, sigma: 0.3 })
    weights[i] = isOut ? 0 : usualLoad(minute) * growth * dayNoise * hourNoise * burst * noise
  }
  return { firstMinute, counts: shared(calls, weights) }
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

/** Whole parts of `calls` in the weights' proportion. */
function shared(calls: number, weights: Float64Array): Uint32Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const counts = new Uint32Array(weights.length)
  let given = 0
  let due = 0
  for (const [i, weight] of weights.entries()) {
    due += (calls * weight) / total
    const count = i === weights.length - 1 ? calls - given : Math.round(due) - given
    counts[i] = count
    given += count
  }
  return counts
}
