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
 * Brings a database to {@link schemaVersion}, in one transaction: readers see the old schema or the new one, and
 * whoever is killed meanwhile leaves the old one. Two programs may do so at once; the second finds the work done.
 */
export function migrate(database: DatabaseSync): void {
  if (versionOf(database) >= schemaVersion) return
  inTransaction(database, () => {
    const found = versionOf(database)
    if (found >= schemaVersion) return
    database.exec('DROP VIEW IF EXISTS calls_readable')
    for (const sql of migrations.slice(found)) database.exec(sql)
    // It follows from the columns that the program knows.
    database.exec(callsReadableSql)
    database.exec(`PRAGMA user_version = ${schemaVersion}`)
  })
}
