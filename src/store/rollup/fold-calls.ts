import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { quarterMs } from './rollup-spans.ts'
import { type RollupState, rollupState } from './rollup-state.ts'

/** Calls are folded away by whole days of UTC. */
export const foldedDayMs: number = 24 * 3_600_000

/** The start of the day before which everything is folded when the last `keepDays` whole days, and today, are kept. */
export function foldUntil(nowMs: number, keepDays: number): number {
  return Math.floor((nowMs - keepDays * foldedDayMs) / foldedDayMs) * foldedDayMs
}

/** The instant before which calls may have been folded away, 0 if none were. */
export function foldedUntilMs(database: DatabaseSync): number {
  return rollupState(database)().foldedUntil * quarterMs
}

/**
 * Deletes calls that the rollups hold. In the transaction that deletes the first call of a day, that day is marked
 * as folded: whoever reads sees the day's calls and may count them, or sees the mark and asks the rollups. A call
 * that the rollups do not hold yet is never deleted, however late it came.
 */
export class FoldCalls {
  readonly #database: DatabaseSync
  readonly #state: () => RollupState
  readonly #mark: StatementSync
  readonly #oldest: StatementSync
  readonly #delete: StatementSync
  readonly #deleteRepriced: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#state = rollupState(database)
    this.#mark = database.prepare('UPDATE rollup_state SET folded_until = max(folded_until, ?)')
    // The plus keeps SQLite from going by the index on seq, in which these calls lie scattered.
    const folded = 'FROM calls WHERE id < ? AND +seq <= ?'
    this.#oldest = database.prepare(`SELECT id ${folded} ORDER BY id LIMIT 1 OFFSET ?`)
    this.#delete = database.prepare(`DELETE ${folded}`)
    // Of calls that are gone nobody asks what they cost before.
    this.#deleteRepriced = database.prepare('DELETE FROM repriced WHERE call_id < ?')
  }

  /** Deletes up to `limit` calls of one day before `untilMs`, the start of a day; says how many. */
  step(untilMs: number, limit: number): number {
    return inTransaction(this.#database, () => {
      const { watermark } = this.#state()
      const first = this.#oldest.get(firstIdAt(untilMs), watermark, 0)?.['id']
      if (first === undefined) return 0
      const dayEndMs = (Math.floor(startedAtMs(Number(first)) / foldedDayMs) + 1) * foldedDayMs
      const dayEndId = firstIdAt(dayEndMs)
      const past = Number(this.#oldest.get(dayEndId, watermark, limit)?.['id'] ?? dayEndId)
      this.#mark.run(dayEndMs / quarterMs)
      this.#deleteRepriced.run(past)
      return Number(this.#delete.run(past, watermark).changes)
    })
  }
}
