import type { Warning } from '../call/call-sink.ts'
import { StoreRefusal } from './open-store.ts'
import { sqliteCode, sqliteCodes } from './sqlite-code.ts'

/** The file that is open is no longer the one at its path. */
export class StoreMoved extends Error {
  constructor() {
    super('the database was deleted or replaced')
    this.name = 'StoreMoved'
  }
}

/**
 * `wait`: the connection is sound, try again. `reopen`: open anew and try again. `set_aside`: move the file out
 * of the way first. `skip`: the fault is our own, and trying again would not help.
 */
export type Remedy = 'wait' | 'reopen' | 'set_aside' | 'skip'

export interface Trouble {
  readonly remedy: Remedy
  readonly warning: Warning
  /** The warning stays after things are well again, because something was lost that a person may want back. */
  readonly stays: boolean
}

const notRecorded = 'calls are served, but cannot be recorded'

/** What to do about an error of the store, and what to tell people. */
export function troubleOf(error: unknown, path: string): Trouble {
  if (error instanceof StoreMoved) {
    const message = `${path} was deleted or replaced while in use; recording goes on in the file that is there now`
    return { remedy: 'reopen', warning: { code: 'database_moved', message }, stays: true }
  }
  if (error instanceof StoreRefusal) {
    const message = `${path}: ${error.message} Until then ${notRecorded}`
    return passing('reopen', `database_${error.absence}`, message)
  }
  const reason = error instanceof Error ? error.message : String(error)
  switch (sqliteCode(error)) {
    case sqliteCodes.notADatabase:
    case sqliteCodes.corrupt: {
      const message = `${path} was damaged (${reason}); it was kept beside as *.corrupt-<time> and a new one begun`
      return { remedy: 'set_aside', warning: { code: 'database_damaged', message }, stays: true }
    }
    case sqliteCodes.full:
      return passing('wait', 'disk_full', `the disk that holds ${path} is full: ${notRecorded}`)
    case sqliteCodes.busy:
    case sqliteCodes.locked:
      return passing('wait', 'database_locked', `${path} is locked by another process: ${notRecorded}`)
    case null:
      break
    default:
      return passing('reopen', 'database_unavailable', `${path}: ${reason}: ${notRecorded}`)
  }
  if (isFileSystemError(error)) {
    const code = error.code === 'ENOSPC' ? 'disk_full' : 'database_unavailable'
    return passing('reopen', code, `${path}: ${reason}: ${notRecorded}`)
  }
  const message = `records were dropped by a fault of the store itself: ${reason}`
  return { remedy: 'skip', warning: { code: 'store_fault', message }, stays: true }
}

function passing(remedy: Remedy, code: string, message: string): Trouble {
  return { remedy, warning: { code, message }, stays: false }
}

function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}
