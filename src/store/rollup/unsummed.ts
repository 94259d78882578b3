import type { RowStatements } from '../sqlite/row-statements.ts'
import { cellsOfHour } from './groupings.ts'
import { type SummedCall, valueIn } from './summed-calls.ts'
import { dayOf, hourMs, hourOf } from './time-plan.ts'

/** An hour whose cells lack calls. */
export interface UnsummedHour {
  /** Hours since 1970 (UTC). */
  readonly hour: number
  /** The cells hold the hour's calls up to this number. 0: they hold none. */
  readonly seq: number
  /** Changes with each change of calls that the cells may hold. */
  readonly changes: number
}

/** Notes that new calls of an hour get numbers beyond `seq`. Call it within the transaction that writes them. */
export function noteCalls(statements: RowStatements, hour: number, seq: number): void {
  statements.run('INSERT INTO unsummed VALUES (60, ?, ?, 0) ON CONFLICT DO NOTHING', hour, seq)
}

/**
 * Removes the cells of an hour whose calls change, within the transaction of that change, so that they are
 * computed again. Returns false if calls of that time may have been folded: the cells stay unchanged.
 */
export function noteChange(statements: RowStatements, hour: number): boolean {
  if (hour * hourMs < foldedUntil(statements)) return false
  const remove =
    'DELETE FROM sums WHERE grouping_id = ? AND minutes = ? AND cell_number >= ? AND cell_number < ?'
  for (const cells of cellsOfHour(hour)) statements.run(remove, ...cells)
  statements.run(
    'INSERT INTO unsummed VALUES (60, ?, 0, 1) ON CONFLICT DO UPDATE SET seq = 0, changes = changes + 1',
    hour,
  )
  noteDay(statements, dayOf(hour))
  return true
}

/** The instant before which calls may have been folded away, in milliseconds since 1970; 0 if none were. */
export function foldedUntil(statements: RowStatements): number {
  return statements.number('SELECT until_ms FROM folding') ?? 0
}

/** The last number of a call, also of one that was folded away, whose number must not come twice; 0 without calls. */
export function lastNumber(statements: RowStatements): number {
  const sql = 'SELECT max(last_seq, (SELECT coalesce(max(seq), 0) FROM calls)) FROM folding'
  return statements.number(sql) ?? 0
}

/** Notes that the cells of a day must be computed again, because those of its hours have changed. */
export function noteDay(statements: RowStatements, day: number): void {
  statements.run('INSERT INTO unsummed VALUES (1440, ?, 0, 0) ON CONFLICT DO UPDATE SET seq = 0', day)
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

/** The days with calls whose cells are missing or wrong. */
export function unsummedDays(statements: RowStatements): ReadonlySet<number> {
  const sql = 'SELECT cell_number FROM unsummed WHERE minutes = 1440'
  return new Set(statements.all<readonly [number]>(sql).map(([day]) => day))
}

/** The state of the sums and the calls in a snapshot. */
export interface SumMarks {
  readonly foldedMs: number
  /** The highest id of a call, and the highest number; 0 without calls. */
  readonly newestId: number
  readonly lastSeq: number
  readonly hours: readonly UnsummedHour[]
  readonly days: ReadonlySet<number>
}

/** Reads the marks. Within a transaction, they are of one instant. */
export function readMarks(statements: RowStatements): SumMarks {
  const newest = 'SELECT (SELECT max(id) FROM calls), (SELECT max(seq) FROM calls)'
  const [newestId, lastSeq] = statements.first(newest) ?? []
  return {
    foldedMs: foldedUntil(statements),
    newestId: newestId ?? 0,
    lastSeq: lastSeq ?? 0,
    hours: unsummedHours(statements),
    days: unsummedDays(statements),
  }
}

/** Hours by the age of their marks: the missing calls of `recent` ones are among the newest, beyond `leastSeq`. */
interface MarksByAge {
  readonly recent: readonly UnsummedHour[]
  readonly old: readonly UnsummedHour[]
  readonly leastSeq: number
}

/**
 * The missing calls of recent marks are read in the order of writing, those of old marks hour by hour. At most
 * `recentNumbers` follow a recent mark.
 */
export function splitByAge(
  { hours, lastSeq }: Pick<SumMarks, 'hours' | 'lastSeq'>,
  recentNumbers: number,
): MarksByAge {
  const recent = hours.filter(({ seq }) => lastSeq - seq <= recentNumbers)
  const old = hours.filter(({ seq }) => lastSeq - seq > recentNumbers)
  return { recent, old, leastSeq: recent.reduce((least, { seq }) => Math.min(least, seq), lastSeq) }
}

/** Returns a function that is true for calls that the cells of these hours lack. */
export function lackedBy(hours: readonly UnsummedHour[]): (call: SummedCall) => boolean {
  const seqOf = new Map(hours.map(({ hour, seq }) => [hour, seq]))
  return (call) => {
    const heldSeq = seqOf.get(hourOf(valueIn(call, 'id') ?? 0)) ?? Number.POSITIVE_INFINITY
    return (valueIn(call, 'seq') ?? 0) > heldSeq
  }
}
