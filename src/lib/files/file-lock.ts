import { existsSync, lstatSync, writeFileSync } from 'node:fs'
// oxlint-disable-next-line no-restricted-imports -- A lock, not a database: store imports pricing, and both need it.
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, messageOf } from '../errors.ts'
import { flawText, unreadable } from './file-rights.ts'

const retryMs = 10
const sqliteBusy = 5

/** Open connections, because garbage collection of a connection would free its lock. */
const openLocks = new Set<DatabaseSync>()

/**
 * Takes the lock at a path; null if another holder in any process, or this one, keeps it for `blockMs`. The
 * thread is blocked meanwhile. The kernel frees the lock when the process ends, in any way and in any PID
 * namespace. The lock is SQLite's own lock of an empty database. Nothing is written to that file, and it is
 * never deleted, because then two holders could exist. No other code in this process may open the file,
 * because closing it would drop the lock. Throws an error for people, or the system's error.
 */
export function tryFileLock(path: string, blockMs: number = 0): Disposable | null {
  makePrivateFile(path)
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { timeout: blockMs })
    // A journal on disk would be written beside the file.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lockOf(database)
  } catch (error) {
    database?.close()
    if (isBusy(error)) return null
    // SQLite's own error would be mistaken for one of the database beside the lock.
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error })
  }
}

function lockOf(database: DatabaseSync): Disposable {
  openLocks.add(database)
  return {
    [Symbol.dispose]: () => {
      if (openLocks.delete(database)) database.close()
    },
  }
}

/**
 * True if a process holds the lock at a path; false without a file. Does not take the lock. A process that
 * may hold the lock itself must not call it. Throws as {@link tryFileLock} does.
 */
export function isFileLocked(path: string): boolean {
  if (!existsSync(path)) return false
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    database.prepare('SELECT 1 FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw new Error(`${path} cannot be looked at: ${messageOf(error)}`, { cause: error })
  } finally {
    database?.close()
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}

/** Takes the lock as {@link tryFileLock} does, and waits for it up to `limitMs` without blocking. */
export async function takeFileLock(path: string, limitMs: number): Promise<Disposable | null> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const lock = tryFileLock(path)
    if (lock !== null || performance.now() > deadline) return lock
    await sleep(retryMs)
  }
}

/** Creates the file for its owner only, because a user who may read it could hold the lock. */
function makePrivateFile(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new Error(`${path} is a symbolic link, which is not followed: remove it`, { cause: error })
    }
    const flaw = unreadable(path)
    if (flaw !== null) throw new Error(flawText(flaw), { cause: error })
  }
}
