import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file atomically, private to its owner: readers see the old content or the new. With `flush`,
 * also after a loss of power. Throws the system's error.
 */
export function replaceFile(
  path: string,
  content: string,
  { flush = false }: { readonly flush?: boolean } = {},
): void {
  const temporary = `${path}.${process.pid}.new`
  try {
    // Removes a file of a killed process, or a link of another user, which must not be written through.
    rmSync(temporary, { force: true })
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx', flush })
    renameSync(temporary, path)
    if (flush) flushFolder(dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Flushes a folder's names to the disk. Until then, after a loss of power a name may still lead to the old
 * file. Throws the system's error.
 */
export function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
