import type { DatabaseSync } from 'node:sqlite'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { cellsWithin } from './call-figures.ts'
import { type Grouping, groupings, groupingsMadeAt } from './rollup-groupings.ts'
import { type LevelNumber, levels, quartersOf } from './rollup-spans.ts'
import { RollupSums } from './rollup-sums.ts'

const quartersPerHour = quartersOf(1)
const hourly = groupings.filter(({ levels: [finest] }) => finest === 1)
const removeSpans = `DELETE FROM rollup_spans WHERE level = ? AND slot >= ? AND slot < ?
  AND key_id IN (SELECT id FROM rollup_keys WHERE grouping_id IN (SELECT value FROM json_each(?)))`

/** Makes sums anew where they are, an hour at a time. After an error it is to be made anew: it knows keys that are not there. */
export class RollupRepair {
  readonly #database: DatabaseSync
  readonly #statements: RowStatements
  readonly #sums: RollupSums

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#sums = new RollupSums(database)
  }

  /**
   * In one transaction, counts the calls of an hour that is not folded, and makes the wider slots that end with it.
   * Hours of a day must come in their order. `first` is the hour's first quarter since 1970.
   */
  mendHour(first: number): void {
    inTransaction(this.#database, () => {
      const hourEnd = first + quartersPerHour
      const { watermark, coarseUntil, coarseKey, foldedUntil } = this.#sums.state()
      for (const { level, quarters: width } of levels) {
        this.#remove(
          groupingsMadeAt(level),
          level,
          Math.ceil((first + 1) / width) - 1,
          Math.floor(hourEnd / width),
        )
      }
      if (first >= foldedUntil) {
        this.#statements.run('DELETE FROM rollup_quarters WHERE slot >= ? AND slot < ?', first, hourEnd)
        this.#remove(hourly, 1, first / quartersPerHour, hourEnd / quartersPerHour)
        const counted = cellsWithin(this.#statements, [first, hourEnd], watermark)
        // The finest slots alone: the wider ones are made of them.
        this.#sums.add(counted, { coarseUntil: 0, coarseKey: 0 })
      }
      if (hourEnd <= coarseUntil) {
        const keys = 'SELECT id, grouping_id FROM rollup_keys ORDER BY id'
        this.#sums.complete(this.#statements.all<readonly [number, number]>(keys), hourEnd)
      }
      // Of the hour that is being made, all keys are to be made again.
      else if (first === coarseUntil && coarseKey > 0)
        this.#statements.run('UPDATE rollup_state SET coarse_key = 0')
    })
  }

  #remove(of: readonly Grouping[], level: LevelNumber, first: number, past: number): void {
    if (first < past && of.length > 0)
      this.#statements.run(removeSpans, level, first, past, JSON.stringify(of.map(({ id }) => id)))
  }
}
