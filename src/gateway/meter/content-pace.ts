import { Histogram, quantileOf } from '../../lib/histogram.ts'

/** Most gaps that are stored one by one. More go into a histogram, within 1%. */
const exactGaps = 200
const stallMs = 1000
/** Most stored arrivals. With more chunks, every second, fourth … arrival is stored. */
const mostArrivals = 128

/** When a stream's content came: first, first visible, last, and the gaps between. */
export class ContentPace {
  chunks = 0
  firstVisibleAtMs: number | null = null
  /** Gaps of over one second. */
  stalls = 0
  #firstAtMs = 0
  #lastAtMs = 0
  #gaps: number[] = []
  #histogram: Histogram | null = null
  #longestGapMs = 0
  #arrivals: number[] = []
  #arrivalEvery = 1

  get firstAtMs(): number | null {
    return this.chunks === 0 ? null : this.#firstAtMs
  }

  get lastAtMs(): number | null {
    return this.chunks === 0 ? null : this.#lastAtMs
  }

  get longestGapMs(): number | null {
    return this.chunks < 2 ? null : this.#longestGapMs
  }

  /** Adds a chunk with content. `visible`: the chunk has more than reasoning. */
  add(atMs: number, visible: boolean): void {
    if (visible) this.firstVisibleAtMs ??= atMs
    if (this.chunks++ === 0) this.#firstAtMs = atMs
    else this.#addGap(atMs - this.#lastAtMs)
    this.#lastAtMs = atMs
    if ((this.chunks - 1) % this.#arrivalEvery === 0) this.#addArrival(atMs)
  }

  /** The share of the chunks, 0 to 1, that came within `part` of the time from the first to the last; within 2%. */
  chunksWithin(part: number): number {
    const untilMs = this.#firstAtMs + (this.#lastAtMs - this.#firstAtMs) * part
    const within = this.#arrivals.findLastIndex((atMs) => atMs <= untilMs) + 1
    return within / this.#arrivals.length
  }

  /** Percentiles of the gaps in ms at these quantiles (0 to 1); `null` without gaps. */
  gapPercentiles(quantiles: readonly number[]): (number | null)[] {
    const histogram = this.#histogram
    if (histogram !== null) return quantiles.map((quantile) => histogram.percentile(quantile))
    const sorted = this.#gaps.toSorted((a, b) => a - b)
    return quantiles.map((quantile) => quantileOf(sorted.length, quantile, (rank) => sorted[rank] ?? 0))
  }

  #addArrival(atMs: number): void {
    this.#arrivals.push(atMs)
    if (this.#arrivals.length < mostArrivals) return
    this.#arrivals = this.#arrivals.filter((_, index) => index % 2 === 0)
    this.#arrivalEvery *= 2
  }

  #addGap(gapMs: number): void {
    if (gapMs > this.#longestGapMs) this.#longestGapMs = gapMs
    if (gapMs > stallMs) this.stalls++
    if (this.#histogram !== null) {
      this.#histogram.add(gapMs)
      return
    }
    this.#gaps.push(gapMs)
    if (this.#gaps.length <= exactGaps) return
    this.#histogram = new Histogram()
    for (const gap of this.#gaps) this.#histogram.add(gap)
    this.#gaps = []
  }
}
