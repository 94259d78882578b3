import type { DatabaseSync } from 'node:sqlite'
import { requestTokens } from '../../call/budget-tokens.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { callTypeCodes } from '../../call/fields/call-fields.ts'
import { hourOf } from '../rollup/time-plan.ts'
import { noteChange } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

const minuteMs = 60_000
/** Its request was all that could be estimated of it; what has no tokens (`props`, `other`) was not. */
const estimatedBytes = `SELECT request_bytes FROM calls WHERE id = ? AND call_type_id < ${callTypeCodes.props}`

/** Takes rows back of calls that seemed to be cut off and were not: they make room for what became of those calls. */
export class InterruptedCalls {
  readonly #statements: RowStatements

  constructor(database: DatabaseSync) {
    this.#statements = new RowStatements(database)
  }

  /**
   * Within the transaction that writes the other row. `isOwn`: what was estimated of it counts in this file's budget. False if
   * calls of that time are folded away: the sums keep the call as it was.
   */
  deleteInterrupted(id: number, isOwn: boolean): boolean {
    if (!noteChange(this.#statements, hourOf(id))) return false
    if (isOwn) this.#takeEstimateBack(id)
    this.#statements.run('DELETE FROM calls WHERE id = ?', id)
    return true
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
