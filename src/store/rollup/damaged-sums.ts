import { DatabaseSync } from 'node:sqlite'
import { RowStatements } from '../sqlite/row-statements.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { levels, quarterMs, quartersOf } from './rollup-spans.ts'

const tables = ['rollup_quarters', 'rollup_spans'] as const
type Table = (typeof tables)[number]
type Row = readonly (number | Uint8Array | null)[]

/** No call is older, if nobody can tell which sums are the first. */
const earliestQuarter = Date.UTC(2015, 0) / quarterMs
const dayMs = 24 * 3_600_000
const dropBusyMs = 5000

/** Whether SQLite finds a damaged page among the sums. */
export function haveDamage(database: DatabaseSync): boolean {
  return tables.some((table) => isDamaged(database, table))
}

/**
 * Puts tables of sums without damage in place of those that have a damaged page: each sum that can be read is in them. What
 * is lacking afterwards is made anew from the calls, if they are there. Says whether there was any damage.
 */
export function replaceDamaged(database: DatabaseSync, nowMs: number): boolean {
  const damaged = tables.filter((table) => isDamaged(database, table))
  for (const table of damaged) inTransaction(database, () => replace(database, table, nowMs))
  for (const table of damaged) dropAside(database, table)
  return damaged.length > 0
}

function isDamaged(database: DatabaseSync, table: Table): boolean {
  const found = orNullIfCorrupt(() => database.prepare(`PRAGMA quick_check(${table})`).all())
  return found === null || found.length !== 1 || found[0]?.['quick_check'] !== 'ok'
}

/** SQLite lets nobody commit who met a damaged page in the same transaction: another connection reads. */
function replace(database: DatabaseSync, table: Table, nowMs: number): void {
  const statements = new RowStatements(database)
  const [sql] =
    statements.first<readonly string[]>('SELECT sql FROM sqlite_schema WHERE name = ?', table) ?? []
  const count = statements.number(
    'SELECT count(*) FROM sqlite_schema WHERE name GLOB ?',
    `${table}_damaged_*`,
  )
  using reader = new DatabaseSync(database.location() ?? '', { readOnly: true })
  reader.exec('BEGIN')
  database.exec(`ALTER TABLE ${table} RENAME TO ${table}_damaged_${(count ?? 0) + 1}; ${sql}`)
  for (const row of readable(new RowStatements(reader), table, (nowMs + dayMs) / quarterMs))
    statements.run(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`, ...row)
}

function* readable(statements: RowStatements, table: Table, pastQuarter: number): Generator<Row> {
  if (table === 'rollup_quarters') {
    yield* newestFirst(statements, table, '', [], [earliestQuarter, pastQuarter])
    return
  }
  for (const { level, of } of levels) {
    if (of === null) continue
    const bounds = [earliestQuarter / quartersOf(level), pastQuarter / quartersOf(level)] as const
    for (const [key = null] of statements.all('SELECT id FROM rollup_keys'))
      yield* newestFirst(statements, table, 'level = ? AND key_id = ? AND', [level, key], bounds)
  }
}

/** Rows in the order of their slots. Past a damaged page it looks further and further back for the next readable one. */
function* newestFirst(
  statements: RowStatements,
  table: Table,
  where: string,
  values: readonly (number | null)[],
  [first, past]: readonly [number, number],
): Generator<Row> {
  const next = `SELECT slot, * FROM ${table} WHERE ${where} slot =
    (SELECT max(slot) FROM ${table} WHERE ${where} slot < ?)`
  let before = Math.ceil(past)
  for (let step = 1; before > first;) {
    const rows = orNullIfCorrupt(() => statements.all<Row>(next, ...values, ...values, before))
    if (rows === null) before -= step++
    else {
      if (rows.length === 0) return
      for (const row of rows) yield row.slice(1)
      before = Number(rows[0]?.[0])
      step = 1
    }
  }
}

/** A damaged page can keep SQLite from giving the table's pages back: it stays then, and nobody reads it. */
function dropAside(database: DatabaseSync, table: Table): void {
  const named = 'SELECT name FROM sqlite_schema WHERE name GLOB ?'
  for (const { name } of database.prepare(named).all(`${table}_damaged_*`)) {
    using other = new DatabaseSync(database.location() ?? '', { timeout: dropBusyMs })
    orNullIfCorrupt(() => other.exec(`DROP TABLE ${String(name)}`))
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
