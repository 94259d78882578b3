import { getOrAdd } from '../../lib/get-or-add.ts'
import { CallSums, type SumColumn, sumColumns } from '../rollup/call-sums.ts'
import { addDistributionBytes } from '../rollup/sum-rows.ts'

/** The sums of one bucket and one value of the dimension: the value's id, or `null` for calls without one. */
export interface SumGroup {
  readonly bucket: number
  readonly value: number | null
  readonly sums: PackedSums
}

/**
 * The sums of a group, whose distributions stay packed until they are added up, and of calls that were
 * counted one by one. To unpack thousands of groups at once would keep the garbage collector busy.
 */
export class PackedSums {
  readonly #sums = new Float64Array(sumColumns.length)
  readonly #packed: Uint8Array[] = []
  #counted: CallSums | null = null

  /** The sums to which single calls are added. */
  get counted(): CallSums {
    return (this.#counted ??= new CallSums())
  }

  /** Adds a row of cell number, key and distributions, with or without the sums. */
  addRow(row: readonly unknown[]): void {
    const [, , distributions] = row
    for (let i = 3; i < row.length; i++) this.#sums[i - 3] = (this.#sums[i - 3] ?? 0) + Number(row[i])
    if (distributions instanceof Uint8Array) this.#packed.push(distributions)
  }

  sum(column: SumColumn): number {
    return (this.#sums[sumColumns.indexOf(column)] ?? 0) + (this.#counted?.sum(column) ?? 0)
  }

  addTo(sums: CallSums): void {
    for (let i = 0; i < sumColumns.length; i++) {
      sums.totals[i] = (sums.totals[i] ?? 0) + (this.#sums[i] ?? 0)
    }
    for (const bytes of this.#packed) addDistributionBytes(sums, bytes)
    if (this.#counted !== null) sums.merge(this.#counted)
  }
}

/** Collects sums by bucket of time and by value. */
export class SumsByGroup {
  readonly #edgesMs: readonly number[]
  /** The groups by value, then by bucket. */
  readonly #groups = new Map<number | null, PackedSums[]>()

  /** `edgesMs`: the edges of the buckets, in ms since the Unix epoch, sorted. */
  constructor(edgesMs: readonly number[]) {
    this.#edgesMs = edgesMs
  }

  /** The sums of the bucket with this instant, which must lie within the edges. */
  at(instantMs: number, value: number | null): PackedSums {
    const buckets = getOrAdd(this.#groups, value, () => [])
    return (buckets[this.#bucketOf(instantMs)] ??= new PackedSums())
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
