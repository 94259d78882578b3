import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { requestTokens } from '../../call/budget-tokens.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { callTypeCodes } from '../../call/call-fields.ts'
import { type FigureRow, figureSourceList } from '../rollup/call-figures.ts'
import { RollupSums } from '../rollup/rollup-sums.ts'

const minuteMs = 60_000

/** Takes rows back of calls that seemed to be cut off and were not: they make room for what became of those calls. */
export class InterruptedCalls {
  readonly #row: StatementSync
  readonly #delete: StatementSync
  readonly #request: StatementSync
  readonly #uncount: StatementSync
  readonly #sums: RollupSums

  constructor(database: DatabaseSync) {
    this.#row = database.prepare(`SELECT ${figureSourceList()} FROM calls WHERE id = ?`)
    this.#row.setReturnArrays(true)
    this.#delete = database.prepare('DELETE FROM calls WHERE id = ?')
    // Its request was all that could be estimated of it; what has no tokens (`props`, `other`) was not.
    this.#uncount = database.prepare(
      `UPDATE budget_estimates SET tokens = max(0, tokens - ?) WHERE minute = ?`,
    )
    this.#request = database.prepare(
      `SELECT request_bytes FROM calls WHERE id = ? AND call_type_id < ${callTypeCodes.props}`,
    )
    this.#sums = new RollupSums(database)
  }

  /** Within the transaction that writes the other row. */
  takeBack(id: number): void {
    const row = this.#row.get(id) as unknown as FigureRow | undefined
    if (row === undefined) return
    this.#sums.change([{ before: row, after: null }])
    const requestBytes = Number(this.#request.get(id)?.['request_bytes'] ?? 0)
    this.#uncount.run(requestTokens(requestBytes), Math.floor(startedAtMs(id) / minuteMs))
    this.#delete.run(id)
  }
}
