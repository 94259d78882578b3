import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../errors.ts'
import { fileBehind } from './file-behind.ts'
import { takeFileLock } from './file-lock.ts'
import { replaceFile } from './replace-file.ts'

/** How to change a file. */
export interface FileChange {
  /** Time limit for the lock, which other processes hold while they change the file. */
  readonly limitMs?: number
  /** True if the new content must survive a loss of power. */
  readonly flush?: boolean
  /** Makes the error of a change that was refused: another process is changing the file, or it cannot be written. */
  readonly refusal: (why: 'busy' | 'not_kept', message: string) => Error
}

/**
 * Changes a file, one process at a time: `change` runs under the lock of {@link lockForChange}, and gets a function
 * that replaces the file's text. A symbolic link at the path stays, and its target is changed. Rejects with a
 * refusal, and with what `change` throws.
 */
export async function changeFile<T>(
  path: string,
  { limitMs = 5000, flush = false, refusal }: FileChange,
  change: (replace: (text: string) => void) => T,
): Promise<T> {
  const refuse = (error: unknown): never => {
    throw refusal('not_kept', `${path} cannot be written: ${reasonOf(error)}.`)
  }
  using lock = await lockForChange(path, limitMs).catch(refuse)
  if (lock === null) throw refusal('busy', `${path} is being changed by another process.`)
  return change((text) => {
    try {
      replaceFile(fileBehind(path), text, { flush })
    } catch (error) {
      refuse(error)
    }
  })
}

/**
 * Takes the lock of a file that is changed: `<file>.lock`, beside the target of a symbolic link, which other links
 * may share. Null if another process keeps it for `limitMs`. Rejects with the system's error, or one for people.
 */
export async function lockForChange(path: string, limitMs: number): Promise<Disposable | null> {
  const file = fileBehind(path)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return takeFileLock(`${file}.lock`, limitMs)
}
