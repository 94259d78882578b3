import { Histogram } from '../../lib/histogram.ts'
import { VarintReader, VarintWriter } from '../../lib/packed-numbers.ts'
import { saturatedNumber } from '../../lib/saturated-number.ts'

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

/** The columns of a row of sums, in the order of {@link CallSums.row}. */
export const sumRowColumns = ['distributions', ...sumColumns].join(', ')

/**
 * Measures of successful calls, and the wait of all calls, in microseconds. Packed distributions have this
 * order, so add a new one at the end.
 */
export const measureNames = ['duration_us', 'ttft_us', 'queue_us', 'tpot_us', 'ttft_total_us'] as const

export type MeasureName = (typeof measureNames)[number]

/** The unit in which a sum of inverses is stored. */
const inversePart = 1e-11

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

  writeTo(writer: VarintWriter): void {
    writer.write(this.count)
    if (this.count === 0) return
    writer.write(saturatedNumber(this.sum))
    // Most cells have one call, and its value is enough.
    if (this.count === 1) return
    writer.write(this.min)
    writer.write(this.max)
    writer.write(saturatedNumber(Math.round(this.inverseSum / inversePart)))
    this.histogram.writeTo(writer)
  }

  /** Adds what `writeTo` wrote. Throws `RangeError` for other bytes. */
  addFrom(reader: VarintReader): void {
    const count = reader.read()
    if (count === 0) return
    if (count === 1) {
      this.add(reader.read())
      return
    }
    this.count += count
    this.sum += reader.read()
    this.min = Math.min(this.min, reader.read())
    this.max = Math.max(this.max, reader.read())
    this.inverseSum += reader.read() * inversePart
    this.histogram.addFrom(reader)
  }
}

type Distributions = Readonly<Record<MeasureName, Distribution>>

/** Reused for each row. */
const writer = new VarintWriter()

/**
 * Totals and distributions of a set of calls, which add up in any order. The distributions of rows stay packed
 * until they are needed: to unpack thousands of sums at once would keep the garbage collector busy.
 */
export class CallSums {
  readonly totals: Float64Array = new Float64Array(sumColumns.length)
  readonly #packed: Uint8Array[] = []
  #unpacked: Distributions | null = null

  /** Throws `RangeError` if the bytes of a row are no distributions. */
  get distributions(): Distributions {
    const unpacked = (this.#unpacked ??= {
      duration_us: new Distribution(),
      ttft_us: new Distribution(),
      queue_us: new Distribution(),
      tpot_us: new Distribution(),
      ttft_total_us: new Distribution(),
    })
    for (let bytes = this.#packed.pop(); bytes !== undefined; bytes = this.#packed.pop())
      addBytes(unpacked, bytes)
    return unpacked
  }

  sum(column: SumColumn): number {
    return this.totals[sumColumns.indexOf(column)] ?? 0
  }

  /** Resets the sums to those of no call, which is cheaper than making new ones. */
  clear(): void {
    this.totals.fill(0)
    this.#packed.length = 0
    if (this.#unpacked !== null) for (const measure of measureNames) this.#unpacked[measure].clear()
  }

  merge(other: CallSums): void {
    const { totals, distributions } = this
    for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] ?? 0) + (other.totals[i] ?? 0)
    for (const bytes of other.#packed) addBytes(distributions, bytes)
    if (other.#unpacked === null) return
    for (const measure of measureNames) distributions[measure].merge(other.#unpacked[measure])
  }

  /** Adds a {@link row} that begins at the index `at`. It may end after the distributions. */
  addRow(row: readonly unknown[], at: number): void {
    const distributions = row[at]
    if (distributions instanceof Uint8Array) this.#packed.push(distributions)
    for (let i = at + 1; i < row.length; i++)
      this.totals[i - at - 1] = (this.totals[i - at - 1] ?? 0) + Number(row[i])
  }

  /** The sums as a row of {@link sumRowColumns}; its distributions are `null` if nothing was measured. */
  row(): readonly (number | Uint8Array | null)[] {
    const { distributions } = this
    writer.clear()
    for (const measure of measureNames) distributions[measure].writeTo(writer)
    const isMeasured = measureNames.some((measure) => distributions[measure].count > 0)
    return [isMeasured ? writer.toBytes() : null, ...Array.from(this.totals, saturatedNumber)]
  }
}

function addBytes(distributions: Distributions, bytes: Uint8Array): void {
  const reader = new VarintReader(bytes)
  for (const measure of measureNames) distributions[measure].addFrom(reader)
}
