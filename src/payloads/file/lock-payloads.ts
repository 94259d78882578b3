import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../lib/errors.ts'
import { tryFileLock } from '../../lib/files/file-lock.ts'

/** Time limit for another process, which holds the lock while it writes. */
const lockLimitMs = 5000
/** Most tries to create a folder that others delete. */
const mostTries = 10

/**
 * Takes the lock of a log, whose active file is at `filePath`: one process at a time changes its files. Blocks the
 * thread meanwhile. Throws the system's errors, or an error for people.
 */
export function lockPayloads(filePath: string): Disposable {
  const lock = inFolder(filePath, () => tryFileLock(`${filePath}.lock`, lockLimitMs))
  if (lock === null) throw new Error('another process writes to it and does not end')
  return lock
}

/** Opens a file in its folder, which is made if it is missing, also if others delete it meanwhile. */
export function inFolder<T>(path: string, open: () => T): T {
  for (let tries = 1; ; tries++) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      return open()
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || tries === mostTries) throw error
    }
  }
}
