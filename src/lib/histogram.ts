import type { VarintReader, VarintWriter } from './packed-numbers.ts'

/** Width of a bucket: each ends this factor above the one before. */
const gamma = 1.02
const logGamma = Math.log(gamma)
/** Values below count as zero: far below any duration that a clock can tell. */
const smallest = 1e-6
const largest = 1e12
const lowestBucket = bucketOf(smallest)
const highestBucket = bucketOf(largest)
/** More than there are buckets: added to their number where steps and counts stand in gamma code. */
const isDense = 4096
/** Fewer buckets are not worth the time. */
const leastDense = 32
/** Numbers in gamma code are below. */
const mostGamma = 2 ** 31
/** Steps and counts as they are read. */
const pairs = new Int32Array(2 * isDense)
/** Buckets beyond a second value: its like lie within a factor of two. */
const growth = 35
const nothing = new Float64Array(0)
/** By bucket: powers are what percentiles would take most of their time for. */
const middles = Float64Array.from(
  { length: highestBucket - lowestBucket + 1 },
  (_, index) => (2 * gamma ** (lowestBucket + index)) / (gamma + 1),
)

/** By bucket: whole numbers of 32 bits without any order (Knuth's multiplicative hash, mixed). */
const weights = Int32Array.from(middles, (_, index) => {
  const hash = Math.imul(index + 1, 0x9e3779b1)
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
})

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
  /** Between these places lie all counts that are not 0. */
  #from = 0
  #to = -1

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
    if (other.#to < other.#from) return
    this.#cover(other.#lowest + other.#from)
    this.#cover(other.#lowest + other.#to)
    const counts = this.#counts
    const shift = other.#lowest - this.#lowest
    for (let i = other.#from; i <= other.#to; i++)
      counts[shift + i] = (counts[shift + i] ?? 0) + (theirs[i] ?? 0)
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

  /** That of the counts: see {@link fingerprintFrom}. */
  fingerprint(): number {
    let print = this.#zeros | 0
    for (let at = this.#from; at <= this.#to; at++)
      print = (print + Math.imul(this.#counts[at] ?? 0, weights[this.#lowest + at - lowestBucket] ?? 0)) | 0
    return print
  }

  /** Back to no value at all. */
  clear(): void {
    this.#count = 0
    this.#zeros = 0
    this.#counts.fill(0, this.#from, this.#to + 1)
    this.#to = this.#from - 1
  }

  /**
   * Number of buckets in use, number of zeros, then step to each bucket and its count: a few bytes for each. Where there are many,
   * these stand in Elias's gamma code, which takes half the room; {@link isDense} is added to the number of buckets then.
   */
  writeTo(writer: VarintWriter): void {
    let used = 0
    let largestCount = 0
    for (let i = this.#from; i <= this.#to; i++) {
      const times = this.#counts[i] ?? 0
      if (times > 0) used += 1
      if (times > largestCount) largestCount = times
    }
    const dense = used >= leastDense && largestCount < mostGamma
    writer.write(dense ? used + isDense : used)
    writer.write(this.#zeros)
    let last = dense ? lowestBucket - 1 : lowestBucket
    for (let i = this.#from; i <= this.#to; i++) {
      const times = this.#counts[i] ?? 0
      if (times === 0) continue
      const bucket = this.#lowest + i
      if (dense) {
        writer.writeGamma(bucket - last)
        writer.writeGamma(times)
      } else {
        writer.write(bucket - last)
        writer.write(times)
      }
      last = bucket
    }
    if (dense) writer.endBits()
  }

  /** Adds the counts that `writeTo` wrote; throws where the bytes cannot be such. */
  addFrom(reader: VarintReader): void {
    const told = reader.read()
    const zeros = reader.read()
    if (zeros > 0) this.#addTo(null, zeros)
    if (told >= isDense) {
      this.#addDense(reader, told - isDense)
      return
    }
    let bucket = lowestBucket
    let added = 0
    for (let i = 0; i < told; i++) {
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

  #addDense(reader: VarintReader, used: number): void {
    reader.readGammaPairs(used, pairs)
    let last = lowestBucket - 1
    for (let i = 0; i < used; i++) last += pairs[2 * i] ?? 0
    if (last > highestBucket) throw new RangeError('not a histogram: a bucket beyond the last')
    this.#cover(lowestBucket - 1 + (pairs[0] ?? 0))
    this.#cover(last)
    const counts = this.#counts
    let at = lowestBucket - 1 - this.#lowest
    let added = 0
    for (let i = 0; i < used; i++) {
      at += pairs[2 * i] ?? 0
      const times = pairs[2 * i + 1] ?? 0
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

  /** Takes a bucket among those in use, and widens the window, by more the wider it is, until it covers the bucket. */
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
    // Most hold a single value, and the like of many lie close together.
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

/**
 * Reads what `writeTo` wrote into a number of 32 bits that tells its counts from others. Those of two histograms add up,
 * in 32 bits, to that of both.
 */
export function fingerprintFrom(reader: VarintReader): number {
  const told = reader.read()
  let print = reader.read() | 0
  if (told >= isDense) {
    const used = told - isDense
    reader.readGammaPairs(used, pairs)
    for (let i = 0, bucket = -1; i < used; i++) {
      bucket += pairs[2 * i] ?? 0
      print = (print + Math.imul(pairs[2 * i + 1] ?? 0, weights[bucket] ?? 0)) | 0
    }
    return print
  }
  let bucket = 0
  for (let i = 0; i < told; i++) {
    bucket += reader.read()
    print = (print + Math.imul(reader.read(), weights[bucket] ?? 0)) | 0
  }
  return print
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
