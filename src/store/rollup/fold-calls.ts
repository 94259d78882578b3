import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { dayMs, hoursPerDay } from './time-plan.ts'
import { unsummedHours } from './unsummed.ts'

/**
 * The start (ms since the Unix epoch) of the first day whose calls are kept: the last `keepDays` whole days
 * and today.
 */
export function foldUntil(nowMs: number, keepDays: number): number {
  return Math.floor((nowMs - keepDays * dayMs) / dayMs) * dayMs
}

/** Shares of all calls: the most that an unproven clock may fold, and the folded share that proves a clock. */
const unprovenPart = 0.1
const provingPart = 0.01

/**
 * As {@link foldUntil}, but safe if the clock is wrong.
 * - If the newest call is older than yesterday or lies in the future, the last `keepDays` days before that call
 *   stay. The database was idle, or the clock is wrong.
 * - With `isClockChecked`, more than a tenth of all calls is folded only if remaining calls are older than a day. A
 *   clock that is wrong for a moment has no such calls.
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
  const proving = count(untilMs, nowMs - dayMs)
  if (foldable <= most || (proving > 0 && proving >= provingPart * foldable)) return untilMs
  const firstToStay = statements.number('SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET ?', most)
  return firstToStay === null ? 0 : foldUntil(startedAtMs(firstToStay), 0)
}

/**
 * Returns a function that deletes up to `limit` calls of one day before `untilMs` (the start of a day), if the sums
 * hold them. The function returns their number, or `null` if the sums of that day lack calls. The transaction with
 * the first call of a day marks the day as folded. A reader sees all calls, or the mark, and then reads the sums.
 */
export function foldCalls(database: DatabaseSync): (untilMs: number, limit: number) => number | null {
  const statements = new RowStatements(database)
  const oldest = 'SELECT id FROM calls WHERE id < ? ORDER BY id LIMIT 1 OFFSET ?'
  return (untilMs, limit) =>
    inTransaction(database, () => {
      const first = statements.number(oldest, firstIdAt(untilMs), 0)
      if (first === null) return 0
      const day = Math.floor(startedAtMs(first) / dayMs)
      if (unsummedHours(statements, day * hoursPerDay, (day + 1) * hoursPerDay).length > 0) return null
      const dayEndId = firstIdAt((day + 1) * dayMs)
      const past = statements.number(oldest, dayEndId, limit) ?? dayEndId
      // Numbers of deleted calls are never used again.
      const mark = `UPDATE folding SET until_ms = max(until_ms, ?),
        last_seq = max(last_seq, (SELECT coalesce(max(seq), 0) FROM calls))`
      statements.run(mark, (day + 1) * dayMs)
      return Number(statements.get('DELETE FROM calls WHERE id < ?').run(past).changes)
    })
}
