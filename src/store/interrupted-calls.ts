import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type FigureRow, figureSources } from './call-figures.ts'
import { RollupDeltas } from './rollup-deltas.ts'

/** Takes rows back of calls that seemed to be cut off and were not: they make room for what became of those calls. */
export class InterruptedCalls {
  readonly #row: StatementSync
  readonly #delete: StatementSync
  readonly #deltas: RollupDeltas

  constructor(database: DatabaseSync) {
    this.#row = database.prepare(`SELECT ${figureSources.join(', ')} FROM calls WHERE id = ?`)
    this.#row.setReturnArrays(true)
    this.#delete = database.prepare('DELETE FROM calls WHERE id = ?')
    this.#deltas = new RollupDeltas(database)
  }

  /** Within the transaction that writes the other row. */
  takeBack(id: number): void {
    const row = this.#row.get(id) as unknown as FigureRow | undefined
    if (row === undefined) return
    this.#deltas.takeOut(row)
    this.#delete.run(id)
  }
}
