import { Histogram } from '../../lib/histogram.ts'

export const tokenColumns = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const

/** Whole numbers that add up over calls, by their column in the rollups. */
export const sumColumns = [
  'calls',
  'errors',
  'left_calls',
  ...tokenColumns,
  'cost_nano_usd',
  'priced_calls',
  'unpriced_calls',
  'cache_saved_nano_usd',
] as const

export type SumColumn = (typeof sumColumns)[number]

/**
 * Measures of successful calls, and the wait of all calls, in microseconds. Packed distributions have this
 * order, so add a new one at the end.
 */
export const measureNames = ['duration_us', 'ttft_us', 'queue_us', 'tpot_us', 'ttft_total_us'] as const

export type MeasureName = (typeof measureNames)[number]

/** The distribution of one measure over calls. */
export class Distribution {
  count: number = 0
  sum: number = 0
  max: number = 0
  min: number = Number.POSITIVE_INFINITY
  /** Sum of 1 ÷ value, for the mean of a speed. */
  inverseSum: number = 0
  readonly histogram: Histogram = new Histogram()

  add(value: number): void {
    this.count += 1
    this.sum += value
    if (value > this.max) this.max = value
    if (value < this.min) this.min = value
    if (value > 0) this.inverseSum += 1 / value
    this.histogram.add(value)
  }

  /** Resets the distribution to no value. */
  clear(): void {
    this.count = 0
    this.sum = 0
    this.max = 0
    this.min = Number.POSITIVE_INFINITY
    this.inverseSum = 0
    this.histogram.clear()
  }

  merge(other: Distribution): void {
    if (other.count === 0) return
    this.count += other.count
    this.sum += other.sum
    if (other.max > this.max) this.max = other.max
    if (other.min < this.min) this.min = other.min
    this.inverseSum += other.inverseSum
    this.histogram.merge(other.histogram)
  }
}

/** Totals and distributions of a set of calls, which add up in any order. */
export class CallSums {
  readonly totals: Float64Array = new Float64Array(sumColumns.length)
  readonly distributions: Readonly<Record<MeasureName, Distribution>> = {
    duration_us: new Distribution(),
    ttft_us: new Distribution(),
    queue_us: new Distribution(),
    tpot_us: new Distribution(),
    ttft_total_us: new Distribution(),
  }

  sum(column: SumColumn): number {
    return this.totals[sumColumns.indexOf(column)] ?? 0
  }

  /** Resets the sums to those of no call, which is cheaper than making new ones. */
  clear(): void {
    this.totals.fill(0)
    for (const measure of measureNames) this.distributions[measure].clear()
  }

  merge(other: CallSums): void {
    for (let i = 0; i < this.totals.length; i++)
      this.totals[i] = (this.totals[i] ?? 0) + (other.totals[i] ?? 0)
    for (const measure of measureNames) this.distributions[measure].merge(other.distributions[measure])
  }
}
