import type { DatabaseSync } from 'node:sqlite'

/** Writes in one transaction, or in the open one. After an error, all of its changes are undone. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work()
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** Reads in one transaction, or in the open one, so that all answers are of one instant. */
export function inReadTransaction<Answer>(database: DatabaseSync, ask: () => Answer): Answer {
  if (database.isTransaction) return ask()
  database.exec('BEGIN')
  try {
    return ask()
  } finally {
    // After some errors, SQLite has ended the transaction itself.
    if (database.isTransaction) database.exec('COMMIT')
  }
}
