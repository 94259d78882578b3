import type { Figures } from '../rollup/rollup-figures.ts'
import { FigureParts } from './figure-parts.ts'
import type { FigureGroup } from './figure-question.ts'

/** Figures by bucket of time and entry, as they come together. */
export class FigureGroups {
  readonly #edgesMs: readonly number[]
  /** By entry, then by bucket. */
  readonly #groups = new Map<number | null, Map<number, FigureParts>>()

  /** Each bucket reaches from one edge to the next. */
  constructor(edgesMs: readonly number[]) {
    this.#edgesMs = edgesMs
  }

  /** Adds a row of `figureColumns` whose time lies within one bucket. */
  addRow(startMs: number, entry: number | null, row: readonly unknown[]): void {
    this.#at(startMs, entry).addRow(row)
  }

  /** Figures to which a call of this instant, which must not lie beyond the edges, is to be added. */
  counted(instantMs: number, entry: number | null): Figures {
    return this.#at(instantMs, entry).counted
  }

  all(): readonly FigureGroup[] {
    return [...this.#groups].flatMap(([entry, buckets]) =>
      [...buckets].map(([bucket, figures]) => ({ bucket, entry, figures })),
    )
  }

  #at(instantMs: number, entry: number | null): FigureParts {
    let buckets = this.#groups.get(entry)
    if (buckets === undefined) {
      buckets = new Map()
      this.#groups.set(entry, buckets)
    }
    const bucket = this.#bucketOf(instantMs)
    let figures = buckets.get(bucket)
    if (figures === undefined) {
      figures = new FigureParts()
      buckets.set(bucket, figures)
    }
    return figures
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
