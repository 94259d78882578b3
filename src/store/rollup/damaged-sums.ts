import { DatabaseSync } from 'node:sqlite'
import { RowStatements } from '../sqlite/row-statements.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { type CellMinutes, cellsOfHour } from './groupings.ts'
import { SumCheck } from './check-sums.ts'
import { minuteMs } from './time-plan.ts'
import { foldedUntil, noteChange, noteDay } from './unsummed.ts'

type Row = readonly (number | Uint8Array | null)[]

/** The earliest start of a call. */
const earliestMs = Date.UTC(2015, 0)
const dropBusyMs = 5000

/** True if SQLite finds a damaged page among the sums. */
export function haveDamage(database: DatabaseSync): boolean {
  const problems = orNullIfCorrupt(() => database.prepare('PRAGMA quick_check(sums)').all())
  return problems === null || problems.length !== 1 || problems[0]?.['quick_check'] !== 'ok'
}

/**
 * Replaces the table of sums if one of its pages is damaged. The new table has the readable sums of hours of
 * folded calls; all others are computed again.
 */
export function replaceDamaged(database: DatabaseSync): void {
  if (!haveDamage(database)) return
  inTransaction(database, () => {
    const statements = new RowStatements(database)
    const [sql] =
      statements.first<readonly string[]>("SELECT sql FROM sqlite_schema WHERE name = 'sums'") ?? []
    const count = statements.number("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'sums_damaged_*'")
    // SQLite cannot commit a transaction that met a damaged page, so another connection reads.
    using reader = new DatabaseSync(database.location() ?? '', { readOnly: true })
    reader.exec('BEGIN')
    database.exec(`ALTER TABLE sums RENAME TO sums_damaged_${(count ?? 0) + 1}; ${sql}`)
    const readerStatements = new RowStatements(reader)
    const untilMs = foldedUntil(statements)
    for (const [id, minutes] of cellsOfHour(0))
      for (const row of newestFirst(readerStatements, id, minutes, untilMs))
        statements.run(`INSERT INTO sums VALUES (${row.map(() => '?').join(', ')})`, ...row)
    for (const [day] of statements.all(summedDays)) noteDay(statements, day ?? 0)
    for (const hour of new SumCheck(database).hours()) noteChange(statements, hour)
  })
  dropAside(database)
}

/** Days of which any hour has sums. */
const summedDays = 'SELECT DISTINCT cell_number / 24 FROM sums WHERE minutes = 60'

/** Rows, the newest cell first. Past a damaged page, the search steps back further each time to the next readable one. */
function* newestFirst(
  statements: RowStatements,
  grouping: number,
  minutes: CellMinutes,
  untilMs: number,
): Generator<Row> {
  const next = `SELECT * FROM sums WHERE grouping_id = ?1 AND minutes = ?2 AND cell_number =
    (SELECT max(cell_number) FROM sums WHERE grouping_id = ?1 AND minutes = ?2 AND cell_number < ?3)`
  const first = Math.floor(earliestMs / (minutes * minuteMs))
  let before = Math.floor(untilMs / (minutes * minuteMs))
  for (let step = 1; before > first;) {
    const rows = orNullIfCorrupt(() => statements.all<Row>(next, grouping, minutes, before))
    if (rows === null) before -= step++
    else {
      if (rows.length === 0) return
      yield* rows
      before = Number(rows[0]?.[2])
      step = 1
    }
  }
}

/** Drops the damaged table. If SQLite cannot free its pages, the table stays, unread. */
function dropAside(database: DatabaseSync): void {
  const namesSql = "SELECT name FROM sqlite_schema WHERE name GLOB 'sums_damaged_*'"
  for (const { name } of database.prepare(namesSql).all()) {
    using connection = new DatabaseSync(database.location() ?? '', { timeout: dropBusyMs })
    orNullIfCorrupt(() => connection.exec(`DROP TABLE ${String(name)}`))
  }
}

function orNullIfCorrupt<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (sqliteCode(error) === sqliteCodes.corrupt) return null
    throw error
  }
}
