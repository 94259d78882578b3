import { Figures, type SumColumn, sumColumns } from '../rollup/rollup-figures.ts'
import { addSpreadBytes } from '../rollup/spread-bytes.ts'

/**
 * Figures of a group as they are found: rows of the rollups, whose spreads stay packed until they are told, and
 * calls that were counted one by one. Thousands of groups unpacked at once would keep the collector busy.
 */
export class FigureParts {
  readonly #sums = new Float64Array(sumColumns.length)
  readonly #packed: Uint8Array[] = []
  #counted: Figures | null = null

  /** Calls that are counted one by one are added to these. */
  get counted(): Figures {
    return (this.#counted ??= new Figures())
  }

  /** Adds a row of `figureColumns`. */
  addRow(row: readonly unknown[]): void {
    for (let i = 0; i < sumColumns.length; i++) this.#sums[i] = (this.#sums[i] ?? 0) + Number(row[i])
    const spreads = row[sumColumns.length]
    if (spreads instanceof Uint8Array) this.#packed.push(spreads)
  }

  sum(column: SumColumn): number {
    return (this.#sums[sumColumns.indexOf(column)] ?? 0) + (this.#counted?.sum(column) ?? 0)
  }

  addTo(figures: Figures): void {
    for (let i = 0; i < sumColumns.length; i++) {
      figures.sums[i] = (figures.sums[i] ?? 0) + (this.#sums[i] ?? 0)
    }
    for (const bytes of this.#packed) addSpreadBytes(figures, bytes)
    if (this.#counted !== null) figures.merge(this.#counted)
  }
}
