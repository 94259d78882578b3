import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { quarterMs } from './rollup-spans.ts'
import { rollupState } from './rollup-state.ts'

/** Calls are folded away by whole days of UTC. */
export const foldedDayMs: number = 24 * 3_600_000

/** The start of the day before which everything is folded when the last `keepDays` whole days, and today, are kept. */
export function foldUntil(nowMs: number, keepDays: number): number {
  return Math.floor((nowMs - keepDays * foldedDayMs) / foldedDayMs) * foldedDayMs
}

/** Of all calls, the part that an unproven clock may fold; and of those that are to go, the part that proves it. */
const unprovenPart = 0.1
const provingPart = 0.01

/**
 * The same for the calls of a database, whatever the clock says. If the newest call is of no day but today and yesterday,
 * the last `keepDays` days before that call stay: the database was idle, or the clock is wrong. With `isClockChecked`, more than a tenth of all calls goes only if
 * calls that stay are older than a day: a clock that is wrong for a moment has none of its own.
 */
export function foldableUntil(
  database: DatabaseSync,
  nowMs: number,
  keepDays: number,
  { isClockChecked }: { readonly isClockChecked: boolean },
): number {
  const statements = new RowStatements(database)
  const newest = statements.number('SELECT max(id) FROM calls WHERE id < ?', firstIdAt(nowMs + 1))
  if (newest === null) return 0
  const isRecent = startedAtMs(newest) >= foldUntil(nowMs, 1)
  const untilMs = foldUntil(isRecent ? nowMs : startedAtMs(newest), keepDays)
  if (!isClockChecked) return untilMs
  const between = 'SELECT count(*) FROM calls WHERE id >= ? AND id < ?'
  const count = (fromMs: number, toMs: number): number =>
    statements.number(between, firstIdAt(fromMs), firstIdAt(toMs)) ?? 0
  const most = Math.floor(unprovenPart * (statements.number('SELECT count(*) FROM calls') ?? 0))
  const foldable = count(0, untilMs)
  const proving = count(untilMs, nowMs - foldedDayMs)
  if (foldable <= most || (proving > 0 && proving >= provingPart * foldable)) return untilMs
  const firstToStay = statements.number('SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET ?', most)
  return firstToStay === null ? 0 : foldUntil(startedAtMs(firstToStay), 0)
}

/** The instant before which calls may have been folded away, 0 if none were. */
export function foldedUntilMs(database: DatabaseSync): number {
  return rollupState(database)().foldedUntil * quarterMs
}

/**
 * Deletes calls that the rollups hold: each step up to `limit` calls of one day before `untilMs`, the start of a day,
 * and says how many. In the transaction that deletes the first call of a day, that day is marked as folded: whoever
 * reads sees the day's calls and may count them, or sees the mark and asks the rollups. A call that the rollups do not
 * hold yet is never deleted, however late it came.
 */
export function foldCalls(database: DatabaseSync): (untilMs: number, limit: number) => number {
  const state = rollupState(database)
  const statements = new RowStatements(database)
  // The plus keeps SQLite from going by the index on seq, in which these calls lie scattered.
  const folded = 'FROM calls WHERE id < ? AND +seq <= ?'
  const oldest = `SELECT id ${folded} ORDER BY id LIMIT 1 OFFSET ?`
  return (untilMs, limit) =>
    inTransaction(database, () => {
      const { watermark } = state()
      const first = statements.number(oldest, firstIdAt(untilMs), watermark, 0)
      if (first === null) return 0
      const dayEndMs = (Math.floor(startedAtMs(first) / foldedDayMs) + 1) * foldedDayMs
      const dayEndId = firstIdAt(dayEndMs)
      const past = statements.number(oldest, dayEndId, watermark, limit) ?? dayEndId
      const mark = 'UPDATE rollup_state SET folded_until = max(folded_until, ?)'
      statements.run(mark, dayEndMs / quarterMs)
      return Number(statements.get(`DELETE ${folded}`).run(past, watermark).changes)
    })
}
