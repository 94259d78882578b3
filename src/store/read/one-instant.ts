import type { DatabaseSync } from 'node:sqlite'

/** Asks several things of a database as it is at one instant; within another such question, as it was at that one's. */
export function inOneInstant<Answer>(database: DatabaseSync, ask: () => Answer): Answer {
  if (database.isTransaction) return ask()
  database.exec('BEGIN')
  try {
    return ask()
  } finally {
    database.exec('COMMIT')
  }
}
