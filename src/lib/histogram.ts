/** Width of a bucket: each ends this factor above the one before. */
const gamma = 1.02
const logGamma = Math.log(gamma)
/** Values below count as zero: far below any duration that a clock can tell. */
const smallest = 1e-6
const largest = 1e12
const lowestBucket = bucketOf(smallest)
const highestBucket = bucketOf(largest)
const growth = 16

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
  #counts = new Float64Array(0)

  get count(): number {
    return this.#count
  }

  /** Adds a value, `times` over; values that are not finite are left out. */
  add(value: number, times: number = 1): void {
    if (!Number.isFinite(value)) return
    this.#addTo(value < smallest ? null : bucketOf(Math.min(value, largest)), times)
  }

  merge(other: Histogram): void {
    if (other.#zeros > 0) this.#addTo(null, other.#zeros)
    for (let i = 0; i < other.#counts.length; i++) {
      const times = other.#counts[i] ?? 0
      if (times > 0) this.#addTo(other.#lowest + i, times)
    }
  }

  /**
   * The value below which the part `quantile` (0 to 1) of all values lies, interpolated between the two
   * nearest ranks as SQLite's `percentile()` does; `null` where there is no value.
   */
  percentile(quantile: number): number | null {
    return quantileOf(this.#count, quantile, (rank) => this.#atRank(rank))
  }

  /** A few bytes for each bucket in use: number of zeros, then step to the bucket and its count, as varints. */
  toBytes(): Uint8Array {
    const numbers = [this.#zeros]
    let last = lowestBucket
    for (let i = 0; i < this.#counts.length; i++) {
      const times = this.#counts[i] ?? 0
      if (times === 0) continue
      const bucket = this.#lowest + i
      numbers.push(bucket - last, times)
      last = bucket
    }
    return Uint8Array.from(numbers.flatMap(varint))
  }

  /** The histogram whose `toBytes` these are; throws where they cannot be. */
  static fromBytes(bytes: Uint8Array): Histogram {
    const numbers = readVarints(bytes)
    if (numbers.length % 2 === 0) throw new RangeError('not a histogram: a bucket lacks its count')
    const histogram = new Histogram()
    const [zeros = 0] = numbers
    if (zeros > 0) histogram.#addTo(null, zeros)
    let bucket = lowestBucket
    for (let i = 1; i < numbers.length; i += 2) {
      bucket += numbers[i] ?? 0
      if (bucket > highestBucket) throw new RangeError('not a histogram: a bucket beyond the last')
      histogram.#addTo(bucket, numbers[i + 1] ?? 0)
    }
    return histogram
  }

  #addTo(bucket: number | null, times: number): void {
    this.#count += times
    if (bucket === null) {
      this.#zeros += times
      return
    }
    const index = bucket - this.#lowest
    if (index < 0 || index >= this.#counts.length) this.#cover(bucket)
    const at = bucket - this.#lowest
    this.#counts[at] = (this.#counts[at] ?? 0) + times
  }

  /** Widens the window until it covers the bucket. */
  #cover(bucket: number): void {
    const length = this.#counts.length
    const empty = length === 0
    const lowest = empty || bucket < this.#lowest ? bucket - growth : this.#lowest
    const end = Math.max(bucket + 1 + growth, empty ? bucket : this.#lowest + length)
    const counts = new Float64Array(end - lowest)
    if (!empty) counts.set(this.#counts, this.#lowest - lowest)
    this.#counts = counts
    this.#lowest = lowest
  }

  #atRank(rank: number): number {
    let seen = this.#zeros
    if (rank < seen) return 0
    for (let i = 0; i < this.#counts.length; i++) {
      seen += this.#counts[i] ?? 0
      if (rank < seen) return middleOf(this.#lowest + i)
    }
    return 0
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
  return (2 * gamma ** bucket) / (gamma + 1)
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return bytes
}

function readVarints(bytes: Uint8Array): number[] {
  const numbers: number[] = []
  let value = 0
  let factor = 1
  for (const byte of bytes) {
    value += (byte % 128) * factor
    factor *= 128
    if (byte >= 128) continue
    numbers.push(value)
    value = 0
    factor = 1
  }
  if (factor !== 1) throw new RangeError('not a histogram: cut short')
  return numbers
}
