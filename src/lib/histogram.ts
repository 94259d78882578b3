/** Width of a bucket: each ends this factor above the one before. */
const gamma = 1.02
const logGamma = Math.log(gamma)
/** Values below count as zero: far below any duration that a clock can tell. */
const smallest = 1e-6
const largest = 1e12
const lowestBucket = bucketOf(smallest)
const highestBucket = bucketOf(largest)
/** Buckets beyond a second value: its like lie within a factor of two. */
const growth = 35
const nothing = new Float64Array(0)
/** By bucket: powers are what percentiles would take most of their time for. */
const middles = Float64Array.from(
  { length: highestBucket - lowestBucket + 1 },
  (_, index) => (2 * gamma ** (lowestBucket + index)) / (gamma + 1),
)

/**
 * Counts of values in buckets on a logarithmic scale: percentiles within 1 %, from 1e-6 to 1e12 (beyond it, the
 * nearest of the two). Two histograms add up to that of all their values, in any order. In memory a window
 * over the buckets in use, on disk only those that are not empty.
 */
export class Histogram {
  #count = 0
  #zeros = 0
  /** `#counts[i]` belongs to bucket `#lowest + i`. */
  #lowest = 0
  #counts: Float64Array = nothing

  get count(): number {
    return this.#count
  }

  /** Adds a value, `times` over; values that are not finite are left out. */
  add(value: number, times: number = 1): void {
    if (!Number.isFinite(value)) return
    this.#addTo(value < smallest ? null : bucketOf(Math.min(value, largest)), times)
  }

  merge(other: Histogram): void {
    const theirs = other.#counts
    this.#count += other.#count
    this.#zeros += other.#zeros
    if (theirs.length === 0) return
    if (this.#counts.length === 0) {
      this.#lowest = other.#lowest
      this.#counts = theirs.slice()
      return
    }
    this.#cover(other.#lowest)
    this.#cover(other.#lowest + theirs.length - 1)
    const counts = this.#counts
    const shift = other.#lowest - this.#lowest
    for (let i = 0; i < theirs.length; i++) counts[shift + i] = (counts[shift + i] ?? 0) + (theirs[i] ?? 0)
  }

  /**
   * The value below which the part `quantile` (0 to 1) of all values lies, interpolated between the two
   * nearest ranks as SQLite's `percentile()` does; `null` where there is no value.
   */
  percentile(quantile: number): number | null {
    return quantileOf(this.#count, quantile, (rank) => this.atRanks([rank])[0] ?? 0)
  }

  /** How many of the values are zeros. */
  get zeros(): number {
    return this.#zeros
  }

  /** The values of these ranks, from 0 to `count` − 1, each within 1 %: found the faster the more of them rise. */
  atRanks(ranks: readonly number[]): readonly number[] {
    const counts = this.#counts
    const values: number[] = []
    let seen = this.#zeros
    let at = -1
    let last = 0
    for (const rank of ranks) {
      if (rank < last) [seen, at] = [this.#zeros, -1]
      last = rank
      while (seen <= rank && at + 1 < counts.length) seen += counts[++at] ?? 0
      values.push(rank < this.#zeros ? 0 : middleOf(this.#lowest + at))
    }
    return values
  }

  /** How many values lie between rising limits, from one (inclusive) to the next; what lies beyond them counts at the ends. */
  countsBetween(limits: readonly number[]): number[] {
    const last = limits.length - 2
    const found = Array.from({ length: last + 1 }, () => 0)
    if (last < 0) return found
    found[0] = this.#zeros
    let bin = 0
    for (let i = 0; i < this.#counts.length; i++) {
      const times = this.#counts[i] ?? 0
      if (times === 0) continue
      const value = middleOf(this.#lowest + i)
      while (bin < last && value >= (limits[bin + 1] ?? 0)) bin += 1
      found[bin] = (found[bin] ?? 0) + times
    }
    return found
  }

  equals(other: Histogram): boolean {
    if (this.#count !== other.#count || this.#zeros !== other.#zeros) return false
    const shift = this.#lowest - other.#lowest
    // As many values lie in each bucket of this one, so that none is left for another bucket.
    let left = this.#count - this.#zeros
    for (let at = 0; left > 0; at++) {
      const times = this.#counts[at] ?? 0
      if (times > 0 && times !== other.#counts[at + shift]) return false
      left -= times
    }
    return true
  }

  /** Back to no value at all. */
  clear(): void {
    this.#count = 0
    this.#zeros = 0
    this.#counts.fill(0)
  }

  /** Number of buckets in use, number of zeros, then step to each bucket and its count: a few bytes for each. */
  writeTo(writer: VarintWriter): void {
    let used = 0
    for (const times of this.#counts) if (times > 0) used += 1
    writer.write(used)
    writer.write(this.#zeros)
    let last = lowestBucket
    for (let i = 0; i < this.#counts.length; i++) {
      const times = this.#counts[i] ?? 0
      if (times === 0) continue
      const bucket = this.#lowest + i
      writer.write(bucket - last)
      writer.write(times)
      last = bucket
    }
  }

  /** Adds the counts that `writeTo` wrote; throws where the bytes cannot be such. */
  addFrom(reader: VarintReader): void {
    const used = reader.read()
    const zeros = reader.read()
    if (zeros > 0) this.#addTo(null, zeros)
    let bucket = lowestBucket
    let added = 0
    for (let i = 0; i < used; i++) {
      bucket += reader.read()
      if (bucket > highestBucket) throw new RangeError('not a histogram: a bucket beyond the last')
      const times = reader.read()
      this.#cover(bucket)
      const at = bucket - this.#lowest
      this.#counts[at] = (this.#counts[at] ?? 0) + times
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

  /** Widens the window, by more the wider it is, until it covers the bucket. */
  #cover(bucket: number): void {
    const length = this.#counts.length
    const index = bucket - this.#lowest
    if (index >= 0 && index < length) return
    // Most hold a single value, and the like of many lie close together.
    const margin = length === 0 ? 0 : Math.max(growth, length >> 1)
    const lowest = length === 0 || index < 0 ? bucket - margin : this.#lowest
    const end = length === 0 || index >= length ? bucket + 1 + margin : this.#lowest + length
    const counts = new Float64Array(end - lowest)
    counts.set(this.#counts, length === 0 ? 0 : this.#lowest - lowest)
    this.#counts = counts
    this.#lowest = lowest
  }
}

/** A percentile of `count` values, of which `atRank` knows the one of each rank, 0 the smallest. */
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

/** The value that is off by the same part from both ends of the bucket: (γ − 1) ÷ (γ + 1) = 0.99 %. */
function middleOf(bucket: number): number {
  return middles[bucket - lowestBucket] ?? 0
}

/** Whole numbers from 0 to 2^53 in one byte for each seven bits, the lowest first (LEB128). */
export class VarintWriter {
  readonly #bytes: number[] = []

  write(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) + 128)
    this.#bytes.push(rest)
  }

  toBytes(): Uint8Array {
    return new Uint8Array(this.#bytes)
  }
}

/** Reads what a {@link VarintWriter} wrote. Throws a `RangeError` where the bytes end too early. */
export class VarintReader {
  readonly bytes: Uint8Array
  /** Where the next number begins: a loop that reads a great many moves it on by itself. */
  at: number = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length
  }

  read(): number {
    const { bytes } = this
    let value = 0
    // A byte that is not the last one counts 128 too many, which is one too many of the next.
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[this.at++]
      if (byte === undefined) throw new RangeError('a number is cut short')
      value += byte * factor
      if (byte < 128) return value
      value -= 128 * factor
    }
  }
}
