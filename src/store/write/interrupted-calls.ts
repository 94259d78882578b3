import { requestTokens } from '../../call/budget-tokens.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { callTypeCodes } from '../../call/fields/call-fields.ts'
import { hourOf } from '../rollup/time-plan.ts'
import { noteChange } from '../rollup/unsummed.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

const minuteMs = 60_000
/** Only the request of an interrupted call was estimated; calls without tokens (`props`, `other`) were not. */
const estimatedBytes = `SELECT request_bytes FROM calls WHERE id = ? AND call_type_id < ${callTypeCodes.props}`

/**
 * Deletes the row `interrupted` of a call that did end, within the transaction that writes its true row.
 * `isOwn`: the estimate of its tokens counts in this file's budget. False if calls of that time are folded:
 * the sums keep the call.
 */
export function deleteInterrupted(statements: RowStatements, id: number, isOwn: boolean): boolean {
  if (!noteChange(statements, hourOf(id))) return false
  if (isOwn) {
    const tokens = requestTokens(statements.number(estimatedBytes, id) ?? 0)
    const minute = Math.floor(startedAtMs(id) / minuteMs)
    statements.run('UPDATE budget_estimates SET tokens = max(0, tokens - ?) WHERE minute = ?', tokens, minute)
  }
  statements.run('DELETE FROM calls WHERE id = ?', id)
  return true
}
