import { DatabaseSync } from 'node:sqlite'

type Row = Readonly<Record<string, unknown>>

/** What a query yields, as plain objects that `deepEqual` compares (SQLite's have no prototype). */
export function rowsOf(database: DatabaseSync, sql: string): readonly Row[] {
  return database
    .prepare(sql)
    .all()
    .map((row) => Object.assign({}, row))
}

/** The same of a file that others may have open. */
export function rowsIn(path: string, sql: string): readonly Row[] {
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  return rowsOf(database, sql)
}

/** The one value that a query of a file yields. */
export function valueIn(path: string, sql: string): unknown {
  return Object.values(rowsIn(path, sql)[0] ?? {})[0]
}

/** Changes a file behind the back of whoever has it open. */
export function changeIn(path: string, sql: string): void {
  using database = new DatabaseSync(path, { timeout: 5000 })
  database.exec(sql)
}

export function callsIn(path: string): number {
  return Number(valueIn(path, 'SELECT count(*) FROM calls'))
}
