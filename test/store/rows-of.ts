import type { DatabaseSync } from 'node:sqlite'

/** What a query yields, as plain objects that `deepEqual` compares (SQLite's have no prototype). */
export function rowsOf(database: DatabaseSync, sql: string): readonly Record<string, unknown>[] {
  return database
    .prepare(sql)
    .all()
    .map((row) => Object.assign({}, row))
}
