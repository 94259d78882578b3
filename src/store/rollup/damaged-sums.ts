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
  const found = new RowStatements(reader)
  database.exec(`ALTER TABLE ${table} RENAME TO ${table}_damaged_${(count ?? 0) + 1}; ${sql}`)
  const pastQuarter = Math.ceil((nowMs + dayMs) / quarterMs)
  const first = orNullIfCorrupt(() => found.number('SELECT min(slot) FROM rollup_quarters'))
  const span = [first ?? earliestQuarter, pastQuarter] as const
  const rows = table === 'rollup_quarters' ? quartersIn(found, span) : spansIn(found, span)
  for (const row of rows)
    statements.run(`INSERT INTO ${table} VALUES (${row.map(() => '?').join(', ')})`, ...row)
}

type QuarterSpan = readonly [first: number, past: number]

function* quartersIn(statements: RowStatements, [first, past]: QuarterSpan): Generator<Row> {
  const ofSlot = 'SELECT * FROM rollup_quarters WHERE slot = ?'
  for (let slot = first; slot < past; slot++)
    yield* orNullIfCorrupt(() => statements.all<Row>(ofSlot, slot)) ?? []
}

/** By keys; where a page of a key is damaged, one by one. */
function* spansIn(statements: RowStatements, [first, past]: QuarterSpan): Generator<Row> {
  const ofKey = 'SELECT * FROM rollup_spans WHERE level = ? AND key_id = ?'
  for (const { level, of } of levels) {
    if (of === null) continue
    for (const [key] of statements.all('SELECT id FROM rollup_keys')) {
      const whole = orNullIfCorrupt(() => statements.all<Row>(ofKey, level, key ?? 0))
      if (whole !== null) {
        yield* whole
        continue
      }
      const width = quartersOf(level)
      for (let slot = Math.floor(first / width); slot * width < past; slot++)
        yield* (
          orNullIfCorrupt(() => statements.all<Row>(`${ofKey} AND slot = ?`, level, key ?? 0, slot)) ?? []
        )
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
