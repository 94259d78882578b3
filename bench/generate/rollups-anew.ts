import { DatabaseSync } from 'node:sqlite'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { versionOf } from '../../src/store/sqlite/migrate.ts'
import { RollForward } from '../../src/store/rollup/roll-forward.ts'

const rolledPerStep = 100_000

/** Empties the rollups of a database, and makes their tables as they are made now. */
export function withoutRollups(path: string): void {
  const database = new DatabaseSync(path)
  const tables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'rollup%'",
  )
  database.exec('PRAGMA foreign_keys = OFF')
  database.exec('BEGIN')
  for (const { name } of tables.all()) database.exec(`DROP TABLE ${String(name)}`)
  database.exec(migrations[1]!)
  // An older one gets the rest when it is opened.
  if (versionOf(database) >= 4) database.exec(migrations[3]!)
  database.exec('COMMIT')
  database.close()
}

/** Adds every call to the rollups, as of `nowMs`. */
export function rollAll(database: DatabaseSync, nowMs: number): void {
  const rollForward = new RollForward(database)
  let hasMore = true
  while (hasMore) hasMore = rollForward.step(nowMs, rolledPerStep)
}
