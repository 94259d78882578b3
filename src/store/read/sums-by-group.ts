import { getOrAdd } from '../../lib/get-or-add.ts'
import { CallSums } from '../rollup/call-sums.ts'

/** The sums of one bucket and one value of the dimension: the value's id, or `null` for calls without one. */
export interface SumGroup {
  readonly bucket: number
  readonly value: number | null
  readonly sums: CallSums
}

/** Collects sums by bucket of time and by value. */
export class SumsByGroup {
  readonly #edgesMs: readonly number[]
  /** The groups by value, then by bucket. */
  readonly #groups = new Map<number | null, CallSums[]>()

  /** `edgesMs`: the edges of the buckets, in ms since the Unix epoch, sorted. */
  constructor(edgesMs: readonly number[]) {
    this.#edgesMs = edgesMs
  }

  /** The sums of the bucket with this instant, which must lie within the edges. */
  at(instantMs: number, value: number | null): CallSums {
    const buckets = getOrAdd(this.#groups, value, () => [])
    return (buckets[this.#bucketOf(instantMs)] ??= new CallSums())
  }

  all(): readonly SumGroup[] {
    // Empty buckets are left out.
    return [...this.#groups].flatMap(([value, buckets]) =>
      buckets.flatMap((sums, bucket) => ({ bucket, value, sums })),
    )
  }

  #bucketOf(instantMs: number): number {
    let low = 0
    let high = this.#edgesMs.length - 1
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#edgesMs[middle] ?? 0) <= instantMs) low = middle
      else high = middle
    }
    return low
  }
}
