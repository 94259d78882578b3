import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../errors.ts'
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
 * Changes a file, one process at a time: `change` runs under the lock `<path>.lock`, and gets a function that
 * replaces the file's text. Rejects with a refusal, and with what `change` throws.
 */
export async function changeFile<T>(
  path: string,
  { limitMs = 5000, flush = false, refusal }: FileChange,
  change: (replace: (text: string) => void) => T,
): Promise<T> {
  const refuse = (error: unknown): never => {
    throw refusal('not_kept', `${path} cannot be written: ${reasonOf(error)}.`)
  }
  using lock = await takeLock(path, limitMs).catch(refuse)
  if (lock === null) throw refusal('busy', `${path} is being changed by another process.`)
  return change((text) => {
    try {
      replaceFile(path, text, { flush })
    } catch (error) {
      refuse(error)
    }
  })
}

async function takeLock(path: string, limitMs: number): Promise<Disposable | null> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return takeFileLock(`${path}.lock`, limitMs)
}
