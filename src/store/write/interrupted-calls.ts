import type { DatabaseSync } from 'node:sqlite'
import { requestTokens } from '../../call/budget-tokens.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { callTypeCodes } from '../../call/call-fields.ts'
import { figureSourceList } from '../rollup/call-figures.ts'
import { RollupSums } from '../rollup/rollup-sums.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

const minuteMs = 60_000
/** Its request was all that could be estimated of it; what has no tokens (`props`, `other`) was not. */
const estimatedBytes = `SELECT request_bytes FROM calls WHERE id = ? AND call_type_id < ${callTypeCodes.props}`

/** Takes rows back of calls that seemed to be cut off and were not: they make room for what became of those calls. */
export class InterruptedCalls {
  readonly #statements: RowStatements
  readonly #sums: RollupSums

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
    this.#sums = new RollupSums(database)
  }

  /** Within the transaction that writes the other row. `isOwn`: what was estimated of it counts in this file's budget. */
  takeBack(id: number, isOwn: boolean): void {
    const row = this.#statements.first(`SELECT ${figureSourceList()} FROM calls WHERE id = ?`, id)
    if (row === undefined) return
    this.#sums.change([{ before: row, after: null }])
    if (isOwn) this.#takeEstimateBack(id)
    this.#statements.run('DELETE FROM calls WHERE id = ?', id)
  }

  #takeEstimateBack(id: number): void {
    const requestBytes = this.#statements.number(estimatedBytes, id) ?? 0
    this.#statements.run(
      'UPDATE budget_estimates SET tokens = max(0, tokens - ?) WHERE minute = ?',
      requestTokens(requestBytes),
      Math.floor(startedAtMs(id) / minuteMs),
    )
  }
}
