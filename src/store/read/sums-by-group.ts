import { getOrAdd } from '../../lib/get-or-add.ts'
import { Figures, type SumColumn, sumColumns } from '../rollup/rollup-figures.ts'
import { addDistributionBytes } from '../rollup/figure-rows.ts'

/** The calls of one bucket and one entry of the dimension: its id, `null` for calls that have none. */
export interface FigureGroup {
  readonly bucket: number
  readonly entry: number | null
  readonly figures: GroupSums
}

/**
 * Figures of a group as they are found: rows of sums, whose distributions stay packed until they are told, and
 * calls that were counted one by one. Thousands of groups unpacked at once would keep the collector busy.
 */
export class GroupSums {
  readonly #sums = new Float64Array(sumColumns.length)
  readonly #packed: Uint8Array[] = []
  #counted: Figures | null = null

  /** Calls that are counted one by one are added to these. */
  get counted(): Figures {
    return (this.#counted ??= new Figures())
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

  addTo(figures: Figures): void {
    for (let i = 0; i < sumColumns.length; i++) {
      figures.sums[i] = (figures.sums[i] ?? 0) + (this.#sums[i] ?? 0)
    }
    for (const bytes of this.#packed) addDistributionBytes(figures, bytes)
    if (this.#counted !== null) figures.merge(this.#counted)
  }
}

/** Figures by bucket of time and entry, as they come together. */
export class SumsByGroup {
  readonly #edgesMs: readonly number[]
  /** By entry, then by bucket. */
  readonly #groups = new Map<number | null, GroupSums[]>()

  /** Each bucket reaches from one edge to the next. */
  constructor(edgesMs: readonly number[]) {
    this.#edgesMs = edgesMs
  }

  /** The figures to which what lies at this instant, which must not be beyond the edges, is to be added. */
  at(instantMs: number, entry: number | null): GroupSums {
    const buckets = getOrAdd(this.#groups, entry, () => [])
    return (buckets[this.#bucketOf(instantMs)] ??= new GroupSums())
  }

  all(): readonly FigureGroup[] {
    // Buckets in which there is nothing are passed over.
    return [...this.#groups].flatMap(([entry, buckets]) =>
      buckets.flatMap((figures, bucket) => ({ bucket, entry, figures })),
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
