import { existsSync, lstatSync, writeFileSync } from 'node:fs'
// oxlint-disable-next-line no-restricted-imports -- A lock, not a database: store imports pricing, and both need it.
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, messageOf } from '../errors.ts'
import { flawText, unreadable } from './file-rights.ts'

const retryMs = 10
const sqliteBusy = 5

/** A connection that is collected as garbage lets its lock go. */
const held = new Set<DatabaseSync>()

/**
 * Takes the lock at a path for one holder, of all processes and of this one; null if another holds it. The kernel frees it
 * when its process ends, however that ends, and whatever PID namespace it was in. The lock is SQLite's own on an empty
 * database, to which nothing is ever written, and which stays: to delete it would let two hold the lock. Nothing else
 * may open the file in this process: closing it would drop the lock. Throws in words, or the system's error.
 */
export function tryFileLock(path: string): Disposable | null {
  makePrivateFile(path)
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { timeout: 0 })
    // Else a journal would be written beside it.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lockOf(database)
  } catch (error) {
    database?.close()
    if (isBusy(error)) return null
    // Not SQLite's own error: it would be taken for one of the database beside it.
    throw new Error(`${path} cannot be locked: ${messageOf(error)}`, { cause: error })
  }
}

function lockOf(database: DatabaseSync): Disposable {
  held.add(database)
  return {
    [Symbol.dispose]: () => {
      if (held.delete(database)) database.close()
    },
  }
}

/**
 * True if a process holds the lock at a path, without taking it; false if there is no file. Not for a process that
 * may hold it itself. Throws as {@link tryFileLock} does.
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

/** Takes the lock as {@link tryFileLock} does, waiting up to `limitMs` for it without holding up anything else. */
export async function takeFileLock(path: string, limitMs: number): Promise<Disposable | null> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const lock = tryFileLock(path)
    if (lock !== null || performance.now() > deadline) return lock
    await sleep(retryMs)
  }
}

/** A user who may read the file could hold the lock: only its owner may. */
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
