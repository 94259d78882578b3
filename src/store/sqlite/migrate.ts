import type { DatabaseSync } from 'node:sqlite'
import { callsReadableSql } from './calls-readable.ts'
import { calls } from '../migrations/0001-calls.ts'
import { rollups } from '../migrations/0002-rollups.ts'
import { jobs } from '../migrations/0003-jobs.ts'
import { rollupMarks } from '../migrations/0004-rollup-marks.ts'
import { repriced } from '../migrations/0005-repriced.ts'
import { noLeases } from '../migrations/0006-no-leases.ts'
import { budgetEstimates } from '../migrations/0007-budget-estimates.ts'
import { firstTokenSums } from '../migrations/0008-first-token-sums.ts'
import type { Migration } from '../migrations/migration.ts'

/** Every step, oldest first; the last one's version is the schema that this program knows. */
export const migrations: readonly Migration[] = [
  calls,
  rollups,
  jobs,
  rollupMarks,
  repriced,
  noLeases,
  budgetEstimates,
  firstTokenSums,
]

/** The schema that this program reads and writes. */
export const schemaVersion: number = Math.max(...migrations.map((migration) => migration.version))

/** `user_version` of a database, 0 for one that holds nothing yet. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/**
 * Brings a database to {@link schemaVersion}, one transaction a step: whoever is killed in between leaves the
 * old schema or the new one. Two programs may do so at once; the second finds the work done.
 */
export function migrate(database: DatabaseSync): void {
  for (const migration of migrations) {
    if (versionOf(database) >= migration.version) continue
    database.exec('BEGIN IMMEDIATE')
    try {
      if (versionOf(database) < migration.version) step(database, migration)
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

/** The view follows from the columns that the program knows, so it is made anew whenever the schema moves. */
function step(database: DatabaseSync, migration: Migration): void {
  database.exec('DROP VIEW IF EXISTS calls_readable')
  database.exec(migration.sql)
  if (migration.version === schemaVersion) database.exec(callsReadableSql)
  database.exec(`PRAGMA user_version = ${migration.version}`)
}
