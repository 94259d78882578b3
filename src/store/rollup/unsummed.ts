import type { RowStatements } from '../sqlite/row-statements.ts'
import { dayMs, hourMs } from './time-plan.ts'

/** An hour whose cells lack calls. */
export interface UnsummedHour {
  /** Hours since 1970 (UTC). */
  readonly hour: number
  /** The cells count the hour's calls up to this number. 0: the cells are invalid. */
  readonly seq: number
  /** Changes with each change of calls that the cells may hold. */
  readonly changes: number
}

export const hoursPerDay: number = dayMs / hourMs

/** Notes that new calls of an hour get numbers beyond `seq`. Call it within the transaction that writes them. */
export function noteCalls(statements: RowStatements, hour: number, seq: number): void {
  statements.run('INSERT INTO unsummed VALUES (60, ?, ?, 0) ON CONFLICT DO NOTHING', hour, seq)
  if (seq === 0) noteDay(statements, Math.floor(hour / hoursPerDay))
}

/**
 * Notes, within its transaction, that calls of an hour change, so that its cells are computed again. Returns
 * false if calls of that time may have been folded: the cells stay unchanged.
 */
export function noteChange(statements: RowStatements, hour: number): boolean {
  if (hour * hourMs < foldedUntil(statements)) return false
  statements.run(
    'INSERT INTO unsummed VALUES (60, ?, 0, 1) ON CONFLICT DO UPDATE SET seq = 0, changes = changes + 1',
    hour,
  )
  noteDay(statements, Math.floor(hour / hoursPerDay))
  return true
}

/** The instant before which calls may have been folded away, in milliseconds since 1970; 0 if none were. */
export function foldedUntil(statements: RowStatements): number {
  return statements.number('SELECT until_ms FROM folding') ?? 0
}

/** Notes that the cells of a day must be computed again. */
export function noteDay(statements: RowStatements, day: number): void {
  const sql = 'INSERT INTO unsummed VALUES (1440, ?, 0, 0) ON CONFLICT DO UPDATE SET changes = changes + 1'
  statements.run(sql, day)
}

/** Hours whose cells lack calls, from `first` to `past` (exclusive), in their order. */
export function unsummedHours(
  statements: RowStatements,
  first: number = 0,
  past: number = Number.MAX_SAFE_INTEGER,
): readonly UnsummedHour[] {
  const sql =
    'SELECT cell_number, seq, changes FROM unsummed WHERE minutes = 60 AND cell_number >= ? AND cell_number < ? ORDER BY cell_number'
  return statements
    .all<readonly [number, number, number]>(sql, first, past)
    .map(([hour, seq, changes]) => ({ hour, seq, changes }))
}

/** The days with calls whose cells are missing or wrong, with their number of changes. */
export function unsummedDays(statements: RowStatements): ReadonlyMap<number, number> {
  const sql = 'SELECT cell_number, changes FROM unsummed WHERE minutes = 1440 ORDER BY cell_number'
  return new Map(statements.all<readonly [number, number]>(sql))
}
