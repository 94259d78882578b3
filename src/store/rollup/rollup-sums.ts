import type { DatabaseSync } from 'node:sqlite'
import { addSums, type CallCell, CallCells, type FigureRow, valueIn } from './call-figures.ts'
import type { Figures } from './rollup-figures.ts'
import { type Grouping, groupings } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { levels, quartersOf } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'
import { type Place, RollupTable } from './rollup-table.ts'

const quartersPerHour = quartersOf(1)

/** A call of which something is counted otherwise than before. */
export interface CallChange {
  readonly before: FigureRow
  /** Differs in nothing that a grouping or a spread is made of; null if the call goes, which must not have gone well. */
  readonly after: FigureRow | null
}

/** Writes the sums, within a transaction of whoever asks for it. */
export class RollupSums {
  /** Reads how far the rollups have come. */
  readonly state: () => RollupState
  readonly #table: RollupTable
  readonly #keys: RollupKeys

  constructor(database: DatabaseSync, keyLimit?: number) {
    this.state = rollupState(database)
    this.#table = new RollupTable(database)
    this.#keys = new RollupKeys(database, keyLimit)
  }

  /** Adds figures to the cells that are held by now: those of a wider level are made of others when their time is over. */
  add(cells: Iterable<CallCell>, { coarseUntil, coarseKey }: RollupState): void {
    const added = new Map<string, { readonly place: Place; readonly parts: Figures[] }>()
    for (const { quarter, call, figures } of cells) {
      for (const grouping of groupings) {
        const key = this.#keys.idFor(grouping, call)
        if (key === null) continue
        // Of the hour that is being made, the wider slots of these keys are made already.
        const madeUntil = key <= coarseKey ? coarseUntil + quartersPerHour : coarseUntil
        for (const level of grouping.levels) {
          const quarters = quartersOf(level)
          const slot = Math.floor(quarter / quarters)
          if (level !== grouping.levels[0] && (slot + 1) * quarters > madeUntil) continue
          const place = [level, key, slot] as const
          const name = place.join(' ')
          const known = added.get(name)
          if (known === undefined) added.set(name, { place, parts: [figures] })
          else known.parts.push(figures)
        }
      }
    }
    // In the order of the tables, so that neighbours are written one after the other.
    for (const { place, parts } of [...added.values()].sort(inTableOrder)) this.#table.add(place, parts)
  }

  /** Carries changes of calls over that are in the sums already. */
  change(changes: readonly CallChange[]): void {
    const state = this.state()
    const cells = new CallCells()
    for (const { before, after } of changes) {
      // What is not added up yet will be, as its row is by then.
      if ((valueIn(before, 'seq') ?? 0) > state.watermark) continue
      const figures = cells.figuresFor(before)
      addSums(figures, before, -1)
      if (after !== null) addSums(figures, after, 1)
    }
    this.add(cells.all(), state)
  }

  /** Makes a key's wider slots that end within the hour that ends at a quarter. */
  complete(key: number, grouping: Grouping, hourEnd: number): void {
    for (const { level, quarters, of } of levels) {
      if (of === null || level === grouping.levels[0] || !grouping.levels.includes(level)) continue
      const parts = quarters / quartersOf(of)
      for (let end = hourEnd - quartersPerHour + 1; end <= hourEnd; end++) {
        if (end % quarters !== 0) continue
        const slot = end / quarters - 1
        this.#table.make([level, key, slot], of, slot * parts, (slot + 1) * parts)
      }
    }
  }

  /** After a rollback. */
  forget(): void {
    this.#keys.forget()
  }
}

function inTableOrder(
  { place: a }: { readonly place: Place },
  { place: b }: { readonly place: Place },
): number {
  return a[0] - b[0] || (a[0] === 0 ? a[2] - b[2] || a[1] - b[1] : a[1] - b[1] || a[2] - b[2])
}
