import type { Warning } from '../../call/call-sink.ts'
import { StoreDamage, StoreRefusal } from './open-store.ts'
import { sqliteCode, sqliteCodes } from './sqlite-code.ts'

/** The file that is open is no longer the one at its path. */
export class StoreMoved extends Error {
  constructor() {
    super('the database was deleted or replaced')
    this.name = 'StoreMoved'
  }
}

/** The log beside the file that is open is no longer the one that is written to; other programs do not see its calls. */
export class LogMoved extends Error {
  constructor() {
    super('the log was deleted or replaced')
    this.name = 'LogMoved'
  }
}

/**
 * `wait`: the connection is sound, try again. `reopen`: open anew and try again. `set_aside`: move the file out
 * of the way first. `save_log`: put what the log holds into the file, then open anew. `skip`: the fault is our own, and trying again would not help.
 */
export type Remedy = 'wait' | 'reopen' | 'set_aside' | 'save_log' | 'skip'

export interface Trouble {
  readonly remedy: Remedy
  readonly warning: Warning
  /** The warning stays after things are well again, because something was lost that a person may want back. */
  readonly stays: boolean
}

const notRecorded = 'calls are served, but cannot be recorded'
/** Of what passes by itself once its cause is gone. */
const goesOn = 'recording goes on by itself, nothing has to be restarted'

/** What to do about an error of the store, and what to tell people. */
export function troubleOf(error: unknown, path: string): Trouble {
  if (error instanceof StoreMoved) {
    const message = `${path} was deleted or replaced while in use; recording goes on in the file that is there now. Stop the gateway before you put another in its place`
    return { remedy: 'reopen', warning: { code: 'database_moved', message }, stays: true }
  }
  if (error instanceof LogMoved) {
    const message = `${path}-wal was deleted or replaced while in use; what it held was put into the database. Leave the files beside a database to SQLite`
    return { remedy: 'save_log', warning: { code: 'database_moved', message }, stays: true }
  }
  if (error instanceof StoreRefusal) {
    const message = `${path}: ${error.message} Until then ${notRecorded}`
    return passing('reopen', `database_${error.absence}`, message)
  }
  const reason = error instanceof Error ? error.message : String(error)
  if (error instanceof StoreDamage) return damaged(path, reason)
  switch (sqliteCode(error)) {
    case sqliteCodes.notADatabase:
    case sqliteCodes.corrupt:
      return damaged(path, reason)
    case sqliteCodes.full:
      return passing('wait', 'disk_full', fullText(path))
    case sqliteCodes.busy:
    case sqliteCodes.locked:
      return passing('wait', 'database_locked', lockedText(path))
    case null:
      break
    default:
      return passing('reopen', 'database_unavailable', unavailableText(path, reason))
  }
  if (isFileSystemError(error)) {
    return error.code === 'ENOSPC'
      ? passing('reopen', 'disk_full', fullText(path))
      : passing('reopen', 'database_unavailable', unavailableText(path, reason))
  }
  const message = `records were dropped by a fault of the store itself: ${reason}`
  return { remedy: 'skip', warning: { code: 'store_fault', message }, stays: true }
}

function damaged(path: string, reason: string): Trouble {
  const message = `${path} was damaged (${reason}); it was kept beside as *.corrupt-<time> and a new one begun. \`sqlite3\` with .recover may save what it held`
  return { remedy: 'set_aside', warning: { code: 'database_damaged', message }, stays: true }
}

function fullText(path: string): string {
  return `the disk that holds ${path} is full: ${notRecorded}. Make room: ${goesOn}`
}

function lockedText(path: string): string {
  return `${path} is locked by another process: ${notRecorded}. End the program that holds it: ${goesOn}`
}

function unavailableText(path: string, reason: string): string {
  return `${path}: ${reason}: ${notRecorded}. See to its folder, its rights and its disk: ${goesOn}`
}

function passing(remedy: Remedy, code: string, message: string): Trouble {
  return { remedy, warning: { code, message }, stays: false }
}

function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
