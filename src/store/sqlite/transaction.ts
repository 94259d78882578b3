import type { DatabaseSync } from 'node:sqlite'

/** Writes in one transaction, or, on an error, nothing. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
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

/** Asks several things of a database as it is at one instant; within another such question, as it was at that one's. */
export function inReadTransaction<Answer>(database: DatabaseSync, ask: () => Answer): Answer {
  if (database.isTransaction) return ask()
  database.exec('BEGIN')
  try {
    return ask()
  } finally {
    // SQLite has ended it itself where it could not read.
    if (database.isTransaction) database.exec('COMMIT')
  }
}
