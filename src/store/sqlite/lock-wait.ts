import type { DatabaseSync } from 'node:sqlite'

/** Runs `work` with another limit (ms) for waiting for others' locks. */
export function withLockWait<T>(database: DatabaseSync, ms: number, work: () => T): T {
  const before = Number(database.prepare('PRAGMA busy_timeout').get()?.['timeout'])
  database.exec(`PRAGMA busy_timeout = ${ms}`)
  try {
    return work()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${before}`)
  }
}
