import type { VarintReader, VarintWriter } from './packed-numbers.ts'

/** Ratio of the limits of two buckets in a row. */
const gamma = 1.02
const logGamma = Math.log(gamma)
/** Smaller values count as zero: no clock measures such durations. */
const smallest = 1e-6
const largest = 1e12
const lowestBucket = bucketOf(smallest)
const highestBucket = bucketOf(largest)
/** Buckets that are added around a second value, because similar values lie within a factor of two. */
const growth = 35
const noCounts = new Float64Array(0)
/** The middle of each bucket, computed once because powers are slow. */
const middles = Float64Array.from(
  { length: highestBucket - lowestBucket + 1 },
  (_, index) => (2 * gamma ** (lowestBucket + index)) / (gamma + 1),
)

/**
 * Counts of values in logarithmic buckets, for percentiles within 1% from 1e-6 to 1e12; values outside count
 * at the nearest end. Histograms can be added in any order, with the same result as for all values together.
 * Memory holds a window over the used buckets, and the disk only buckets that are not empty.
 */
export class Histogram {
  #count = 0
  #zeros = 0
  /** `#counts[i]` belongs to bucket `#lowest + i`. */
  #lowest = 0
  #counts: Float64Array = noCounts
  /** The range of `#counts` outside of which all counts are 0. */
  #from = 0
  #to = -1

  get count(): number {
    return this.#count
  }

  /** Adds a value `times` times; ignores a value that is not finite. */
  add(value: number, times: number = 1): void {
    if (!Number.isFinite(value)) return
    this.#addTo(value < smallest ? null : bucketOf(Math.min(value, largest)), times)
  }

  merge(other: Histogram): void {
    const otherCounts = other.#counts
    this.#count += other.#count
    this.#zeros += other.#zeros
    if (other.#to < other.#from) return
    this.#cover(other.#lowest + other.#from)
    this.#cover(other.#lowest + other.#to)
    const counts = this.#counts
    const shift = other.#lowest - this.#lowest
    for (let i = other.#from; i <= other.#to; i++)
      counts[shift + i] = (counts[shift + i] ?? 0) + (otherCounts[i] ?? 0)
  }

  /**
   * The percentile at `quantile` (0 to 1), interpolated between the two nearest ranks as in SQLite's
   * `percentile()`; `null` without values.
   */
  percentile(quantile: number): number | null {
    return quantileOf(this.#count, quantile, (rank) => this.atRanks([rank])[0] ?? 0)
  }

  /** The number of zeros. */
  get zeros(): number {
    return this.#zeros
  }

  /** The values at these ranks (0 to `count` − 1), each within 1%. Rising ranks are the fastest. */
  atRanks(ranks: readonly number[]): readonly number[] {
    const counts = this.#counts
    const values: number[] = []
    let passed = this.#zeros
    let at = -1
    let last = 0
    for (const rank of ranks) {
      if (rank < last) [passed, at] = [this.#zeros, -1]
      last = rank
      while (passed <= rank && at + 1 < counts.length) passed += counts[++at] ?? 0
      values.push(rank < this.#zeros ? 0 : middleOf(this.#lowest + at))
    }
    return values
  }

  /** The number of values between rising limits, each from one (inclusive) to the next. Values outside count at the ends. */
  countsBetween(limits: readonly number[]): number[] {
    const last = limits.length - 2
    const counts = Array.from({ length: last + 1 }, () => 0)
    if (last < 0) return counts
    counts[0] = this.#zeros
    let bin = 0
    for (let i = 0; i < this.#counts.length; i++) {
      const times = this.#counts[i] ?? 0
      if (times === 0) continue
      const value = middleOf(this.#lowest + i)
      while (bin < last && value >= (limits[bin + 1] ?? 0)) bin += 1
      counts[bin] = (counts[bin] ?? 0) + times
    }
    return counts
  }

  /** Removes all values. */
  clear(): void {
    this.#count = 0
    this.#zeros = 0
    this.#counts.fill(0, this.#from, this.#to + 1)
    this.#to = this.#from - 1
  }

  /**
   * Writes the number of used buckets and of zeros; the lowest bucket, the distance to the highest, and its
   * count; then step and count of each other bucket.
   */
  writeTo(writer: VarintWriter): void {
    const counts = this.#counts
    const isUsed = (at: number): boolean => (counts[at] ?? 0) > 0
    let [from, to, used] = [this.#from, this.#to, 0]
    while (from <= to && !isUsed(from)) from++
    while (from <= to && !isUsed(to)) to--
    for (let at = from; at <= to; at++) if (isUsed(at)) used++
    writer.write(used)
    writer.write(this.#zeros)
    if (used === 0) return
    writer.write(this.#lowest + from - lowestBucket)
    writer.write(to - from)
    for (let at = from, last = from; at <= to; at++) {
      if (!isUsed(at)) continue
      if (at > from) writer.write(at - last)
      writer.write(counts[at] ?? 0)
      last = at
    }
  }

  /** Adds the counts that `writeTo` wrote. Throws a `RangeError` for other bytes. */
  addFrom(reader: VarintReader): void {
    const used = reader.read()
    const zeros = reader.read()
    if (zeros > 0) this.#addTo(null, zeros)
    if (used === 0) return
    const lowest = lowestBucket + reader.read()
    const highest = lowest + reader.read()
    if (highest > highestBucket) throw new RangeError('not a histogram: a bucket beyond the last')
    // Both ends are covered first, so that buckets between need no check.
    this.#cover(lowest)
    this.#cover(highest)
    const counts = this.#counts
    const end = highest - this.#lowest
    let at = lowest - this.#lowest
    let added = 0
    for (let i = 0; i < used; i++) {
      if (i > 0) at += reader.read()
      if (at > end) throw new RangeError('not a histogram: a bucket beyond its last')
      const times = reader.read()
      counts[at] = (counts[at] ?? 0) + times
      added += times
    }
    this.#count += added
  }

  #addTo(bucket: number | null, times: number): void {
    this.#count += times
    if (bucket === null) this.#zeros += times
    else {
      this.#cover(bucket)
      const at = bucket - this.#lowest
      this.#counts[at] = (this.#counts[at] ?? 0) + times
    }
  }

  /** Widens the window to cover a bucket; a wide window grows by more than needed. */
  #cover(bucket: number): void {
    const length = this.#counts.length
    const index = bucket - this.#lowest
    if (index < 0 || index >= length) this.#widen(bucket, index, length)
    const at = bucket - this.#lowest
    if (this.#to < this.#from) this.#from = this.#to = at
    else if (at < this.#from) this.#from = at
    else if (at > this.#to) this.#to = at
  }

  #widen(bucket: number, index: number, length: number): void {
    // Most histograms have a single value, and many values are similar.
    const margin = length === 0 ? 0 : Math.max(growth, length >> 1)
    const lowest = length === 0 || index < 0 ? bucket - margin : this.#lowest
    const end = length === 0 || index >= length ? bucket + 1 + margin : this.#lowest + length
    const counts = new Float64Array(end - lowest)
    const shift = length === 0 ? 0 : this.#lowest - lowest
    counts.set(this.#counts, shift)
    this.#counts = counts
    this.#lowest = lowest
    this.#from += shift
    this.#to += shift
  }
}

/** A percentile of `count` values. `atRank` returns the value at a rank, 0 for the smallest. */
export function quantileOf(count: number, quantile: number, atRank: (rank: number) => number): number | null {
  if (count === 0) return null
  const rank = Math.min(1, Math.max(0, quantile)) * (count - 1)
  const below = Math.floor(rank)
  const low = atRank(below)
  return rank === below ? low : low + (atRank(below + 1) - low) * (rank - below)
}

function bucketOf(value: number): number {
  return Math.ceil(Math.log(value) / logGamma)
}

/** The value with the same relative error to both ends of the bucket: (γ − 1) ÷ (γ + 1) = 0.99%. */
function middleOf(bucket: number): number {
  return middles[bucket - lowestBucket] ?? 0
}
