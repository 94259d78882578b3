import { roundDuration, shortCount } from '../format/figures.ts'

/** The scale that maps values to heights, from the bottom (0) to the top (1) of a plot. */
export interface ChartScale {
  readonly kind: 'linear' | 'log'
  readonly from: number
  readonly to: number
  /** The values of the ticks, rising; all lie within the plot. */
  readonly ticks: readonly number[]
}

/** The factor above the highest value and, on a logarithmic scale, below the lowest value. */
const room = 1.06
const logRoom = 1.08
/** The leading digits of ticks, from many to few. The first set that is not too dense is used. */
const digitSets: readonly (readonly number[])[] = [[1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]]

/** The usual steps of times from 10 s on, in ms. */
const longStepsMs = [10, 30, 60, 120, 300, 600, 1200, 3600, 7200, 18_000, 36_000].map((s) => s * 1000)

export interface LinearOptions {
  /** The least top of the scale, so that a flat line of tiny values does not fill the plot. */
  readonly leastTop: number
  /** True if values are times in milliseconds; long steps are then minutes and hours. */
  readonly isTime?: boolean
  /** True if ticks are whole numbers. */
  readonly isInteger?: boolean
  readonly maxTicks?: number
}

/** Returns a scale from 0 to just above the highest value, with ticks at multiples of 1, 2 or 5. */
export function linearScale(
  values: Iterable<number | null>,
  { leastTop, isTime = false, isInteger = false, maxTicks = 4 }: LinearOptions,
): ChartScale {
  let top = leastTop
  for (const value of values) if (value !== null && value > top) top = value
  const to = top * room
  const long = isTime ? longStepsMs : []
  const least = to / maxTicks
  const longStep = least > 5000 ? long.find((ms) => ms >= least) : undefined
  const leastStep = Math.max(longStep ?? niceStep(least), isInteger ? 1 : 0)
  // At least one tick is above 0.
  const below = long.findLast((ms) => ms <= to) ?? niceStepBelow(to)
  const step = leastStep <= to ? leastStep : below * Math.floor(to / below)
  const ticks: number[] = []
  for (let index = 0; index * step <= to; index++) ticks.push(cleaned(index * step))
  return { kind: 'linear', from: 0, to, ticks }
}

/**
 * Returns a logarithmic scale from the lowest to the highest value, with ticks at 1, 2 and 5 of a unit. Null if no
 * value is above 0.
 */
export function logScale(values: Iterable<number | null>, maxTicks: number = 6): ChartScale | null {
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (const value of values) {
    if (value === null || value <= 0) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  if (high === 0) return null
  // A range of less than a factor of three has too few ticks.
  const widen = Math.max(1, Math.sqrt((3 * low) / high))
  const from = low / widen / logRoom
  const to = high * widen * logRoom
  const byDensity = digitSets.map((digits) => logTicks(digits, from, to))
  const enough = byDensity.slice(1).find((ticks) => ticks.length <= maxTicks && ticks.length >= 3)
  const fallback = byDensity.find((ticks) => ticks.length <= maxTicks) ?? decades(from, to, maxTicks)
  return { kind: 'log', from, to, ticks: enough ?? fallback }
}

/** Returns the height of a value: 0 at the bottom, 1 at the top. Values beyond the scale are at its edge. */
export function heightOf({ kind, from, to }: ChartScale, value: number): number {
  const share =
    kind === 'linear'
      ? (value - from) / (to - from)
      : Math.log(Math.max(value, Number.MIN_VALUE) / from) / Math.log(to / from)
  return Math.min(1, Math.max(0, share))
}

/** Returns the least of 1, 2 and 5 times a power of ten that is at least `value`. */
export function niceStep(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  return cleaned(([1, 2, 5].find((digit) => digit * unit >= value * 0.999_999) ?? 10) * unit)
}

/** Returns the greatest of 1, 2 and 5 times a power of ten that is at most `value`. */
function niceStepBelow(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  return cleaned(([5, 2].find((digit) => digit * unit <= value) ?? 1) * unit)
}

function logTicks(digits: readonly number[], from: number, to: number): number[] {
  const ticks: number[] = []
  let next: number
  for (let unit = 10 ** Math.min(4, Math.floor(Math.log10(from))); unit <= to; unit = next) {
    next = unitAfter(unit)
    for (const digit of digits) {
      const tick = cleaned(digit * unit)
      // A tick close below the next unit is left out, because it has no room.
      if (tick >= from && tick <= to && tick <= next * 0.75) ticks.push(tick)
    }
  }
  return ticks
}

/** Returns the next unit: ten times as much, but a minute after 10 s, and an hour after 10 min. */
function unitAfter(unit: number): number {
  return unit === 10_000 || unit === 600_000 ? unit * 6 : cleaned(unit * 10)
}

/** Returns the decades between two values; only every second, third and so on if there are more than `maxTicks`. */
function decades(from: number, to: number, maxTicks: number): number[] {
  const all = logTicks([1], from, to)
  const every = Math.ceil(all.length / maxTicks)
  return all.filter((_, index) => index % every === 0)
}

/** Returns the value without rounding errors in its last digits. */
function cleaned(value: number): number {
  return Number(value.toPrecision(6))
}

/** Returns a time as the text of a tick: 0, 50 ms, 1.5 s, 2 min. */
export function axisDuration(ms: number): string {
  return ms === 0 ? '0' : roundDuration(ms)
}

/** Returns a count as the text of a tick. */
export function axisCount(value: number): string {
  return Number.isInteger(value) ? shortCount(value) : String(value)
}
