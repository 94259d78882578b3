import type { DatabaseSync } from 'node:sqlite'
import { callsReadableSql } from './calls-readable.ts'
import { inTransaction } from './transaction.ts'
import { migrations } from '../migrations/migrations.ts'

/** The schema that this program reads and writes. */
export const schemaVersion: number = migrations.length

/** `user_version` of a database, 0 for one that holds nothing yet. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/**
 * Brings a database to {@link schemaVersion}, one transaction a step: whoever is killed in between leaves the
 * old schema or the new one. Two programs may do so at once; the second finds the work done.
 */
export function migrate(database: DatabaseSync): void {
  for (const [index, sql] of migrations.entries()) {
    const version = index + 1
    if (versionOf(database) >= version) continue
    inTransaction(database, () => {
      if (versionOf(database) < version) step(database, version, sql)
    })
  }
}

/** The view follows from the columns that the program knows, so it is made anew whenever the schema moves. */
function step(database: DatabaseSync, version: number, sql: string): void {
  database.exec('DROP VIEW IF EXISTS calls_readable')
  database.exec(sql)
  if (version === schemaVersion) database.exec(callsReadableSql)
  database.exec(`PRAGMA user_version = ${version}`)
}
