import type { DatabaseSync } from 'node:sqlite'
import { SumCheck } from '../rollup/check-sums.ts'
import { firstIdAt } from '../../call/call-id.ts'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { dayMs, hourMs } from '../rollup/time-plan.ts'
import { foldedUntil } from '../rollup/unsummed.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'

/** The result of a check. */
export interface CheckReport {
  readonly calls: number
  /** Number of calls that the sums lack. */
  readonly callsToAdd: number
  /** Calls before this instant were folded (ms since the Unix epoch); `null` if none were. */
  readonly foldedUntilMs: number | null
  /** SQLite's complaints about the file and its indexes; empty if all is well. */
  readonly integrity: readonly string[]
  readonly hours: Sampled
  readonly days: Sampled
}

/** The result of checking some or all spans of a kind. `wrongMs`: starts of wrong ones, in ms since the Unix epoch. */
export interface Sampled {
  readonly checked: number
  readonly of: number
  readonly wrongMs: readonly number[]
}

const hoursInSample = 50
const daysInSample = 10
/** Most findings of SQLite that are listed. */
const findings = 20

/** Checks a database only by reading, so the gateway may write meanwhile. Throws SQLite's errors. */
export function checkStore(path: string, { full }: { readonly full: boolean }): CheckReport | StoreAbsence {
  const opened = openForReading(path)
  if (typeof opened === 'string') return opened
  using database = opened
  const integrity = damageIn(database, 'integrity_check')
  // Damaged pages cannot be counted further.
  return { integrity, ...(integrity.length > 0 ? notCounted : countedIn(database, full)) }
}

type Counted = Omit<CheckReport, 'integrity'>

const notAdded = `SELECT sum((SELECT count(*) FROM calls
    WHERE id >= cell_number * ${firstIdAt(hourMs)} AND id < (cell_number + 1) * ${firstIdAt(hourMs)} AND +calls.seq > unsummed.seq))
  FROM unsummed WHERE minutes = 60`
const nothingChecked: Sampled = { checked: 0, of: 0, wrongMs: [] }
const notCounted: Counted = {
  calls: 0,
  callsToAdd: 0,
  foldedUntilMs: null,
  hours: nothingChecked,
  days: nothingChecked,
}

function countedIn(database: DatabaseSync, full: boolean): Counted {
  const statements = new RowStatements(database)
  const check = new SumCheck(database)
  const [hours, days] = [check.hours(), check.days()]
  const [someHours, someDays] = full
    ? [hours, days]
    : [sampleOf(hours, hoursInSample), sampleOf(days, daysInSample)]
  const wrongHours = someHours.filter((hour) => check.isHourWrong(hour))
  const wrongDays = someDays.filter((day) => check.isDayWrong(day))
  return {
    calls: statements.number('SELECT count(*) FROM calls') ?? 0,
    callsToAdd: statements.number(notAdded) ?? 0,
    foldedUntilMs: foldedUntil(statements) || null,
    hours: { checked: someHours.length, of: hours.length, wrongMs: wrongHours.map((hour) => hour * hourMs) },
    days: { checked: someDays.length, of: days.length, wrongMs: wrongDays.map((day) => day * dayMs) },
  }
}

/** Evenly spread cells, with the first and the last. */
function sampleOf(cellNumbers: readonly number[], count: number): readonly number[] {
  if (cellNumbers.length <= count) return cellNumbers
  const step = (cellNumbers.length - 1) / (count - 1)
  return Array.from({ length: count }, (_, index) => cellNumbers[Math.round(index * step)] ?? 0)
}

/**
 * SQLite's complaints about a database; empty if all is well. The quick check does not compare the contents
 * of indexes.
 */
export function damageIn(
  database: DatabaseSync,
  check: 'quick_check' | 'integrity_check',
): readonly string[] {
  try {
    const rows = database.prepare(`PRAGMA ${check}(${findings})`).all()
    const lines = rows.map((row) => String(row[check]))
    return lines.length === 1 && lines[0] === 'ok' ? [] : lines
  } catch (error) {
    // SQLite cannot recover from some damage.
    if (error instanceof Error && sqliteCode(error) === sqliteCodes.corrupt) return [error.message]
    throw error
  }
}
