import { getOrAdd } from '../../lib/get-or-add.ts'
import { CallSums, type SumColumn, sumColumns } from '../rollup/call-sums.ts'
import { addDistributionBytes } from '../rollup/sum-rows.ts'

/** The calls of one bucket and one value of the dimension: its id, `null` for calls that have none. */
export interface SumGroup {
  readonly bucket: number
  readonly value: number | null
  readonly sums: PackedSums
}

/**
 * The sums of a group: rows whose distributions stay packed until they are added up, and calls that were counted one by
 * one. Thousands of groups unpacked at once would keep the collector of garbage busy.
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

/** Sums by bucket of time and value, as they come together. */
export class SumsByGroup {
  readonly #edgesMs: readonly number[]
  /** By value, then by bucket. */
  readonly #groups = new Map<number | null, PackedSums[]>()

  /** Each bucket reaches from one edge to the next. */
  constructor(edgesMs: readonly number[]) {
    this.#edgesMs = edgesMs
  }

  /** The sums of the bucket in which an instant lies; it must not be beyond the edges. */
  at(instantMs: number, value: number | null): PackedSums {
    const buckets = getOrAdd(this.#groups, value, () => [])
    return (buckets[this.#bucketOf(instantMs)] ??= new PackedSums())
  }

  all(): readonly SumGroup[] {
    // Buckets in which there is nothing are passed over.
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
