import { CodedError, reasonOf } from '../../lib/errors.ts'
import type { Warning } from '../../call/call-sink.ts'
import { sqliteFault } from './sqlite-code.ts'

/**
 * - `other_version`, `foreign`: the file is sound, but of another version or program, and stays unchanged.
 * - `damaged`: SQLite finds no fault, but the contents are wrong.
 * - `moved`: the open file is no longer the one at its path.
 * - `log_moved`: the open log is no longer the one at its path, so that other programs do not see its calls.
 */
export type StoreErrorKind = 'other_version' | 'foreign' | 'damaged' | 'moved' | 'log_moved'

/** The database cannot be used, for a reason that SQLite does not report. */
export class StoreError extends CodedError<StoreErrorKind> {}

/**
 * The step after an error.
 * - `wait`: try again on the same connection.
 * - `reopen`: open the file again, then try again.
 * - `set_aside`: move the file away first.
 * - `save_log`: write the WAL into the file, then open it again.
 * - `skip`: drop the work, because a fault of the program stays.
 */
export type Remedy = 'wait' | 'reopen' | 'set_aside' | 'save_log' | 'skip'

/** The meaning of an error of the store. */
export interface StoreProblem {
  readonly remedy: Remedy
  readonly warning: Warning
  /** True if the warning stays after the repair, because something was lost that a person may want back. */
  readonly isPermanent: boolean
}

const notRecorded = 'calls are served, but cannot be recorded'
/** The advice for errors that end with their cause. */
const goesOn = 'recording continues by itself; no restart is needed'

/** The remedy of an error of the store, and its text for people. */
export function problemOf(error: unknown, path: string): StoreProblem {
  const reason = reasonOf(error)
  const kind = error instanceof StoreError ? error.code : (sqliteFault(error) ?? fileFault(error))
  switch (kind) {
    case 'moved': {
      const message = `${path} was deleted or replaced while in use; recording continues in the current file. Stop the gateway before you put another in its place`
      return { remedy: 'reopen', warning: { code: 'database_moved', message }, isPermanent: true }
    }
    case 'log_moved': {
      const message = `${path}-wal was deleted or replaced while in use; its contents were put into the database. Do not change or delete the files beside a database`
      return { remedy: 'save_log', warning: { code: 'database_moved', message }, isPermanent: true }
    }
    case 'damaged': {
      const message = `${path} was damaged (${reason}); it was renamed to *.corrupt-<time>, and a new one was created. \`sqlite3\` with .recover may save its calls`
      return { remedy: 'set_aside', warning: { code: 'database_damaged', message }, isPermanent: true }
    }
    case 'other_version':
    case 'foreign':
      return passing('reopen', `database_${kind}`, `${path}: ${reason} Until then ${notRecorded}`)
    case 'full': {
      const message = `the disk that holds ${path} is full: ${notRecorded}. Make room: ${goesOn}`
      return passing('wait', 'disk_full', message)
    }
    case 'busy': {
      const message = `${path} is locked by another process: ${notRecorded}. End the program that holds it: ${goesOn}`
      return passing('wait', 'database_locked', message)
    }
    case null: {
      const message = `records were dropped by an internal error of the store: ${reason}`
      return { remedy: 'skip', warning: { code: 'store_fault', message }, isPermanent: true }
    }
    default: {
      const message = `${path}: ${reason}: ${notRecorded}. Check its folder, its rights and its disk: ${goesOn}`
      return passing('reopen', 'database_unavailable', message)
    }
  }
}

function passing(remedy: Remedy, code: string, message: string): StoreProblem {
  return { remedy, warning: { code, message }, isPermanent: false }
}

function fileFault(error: unknown): 'full' | 'unavailable' | null {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null
  return error.code === 'ENOSPC' ? 'full' : 'unavailable'
}
