import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file whole or not at all, for its owner alone: a reader sees the old content or the new. With `flush` also after
 * a loss of power. Throws the system's error.
 */
export function replaceFile(
  path: string,
  content: string,
  { flush = false }: { readonly flush?: boolean } = {},
): void {
  const temporary = `${path}.${process.pid}.new`
  try {
    // A file that a killed process left, or a link that another user laid, is not written through.
    rmSync(temporary, { force: true })
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx', flush })
    renameSync(temporary, path)
    if (flush) flushFolder(dirname(path))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Brings to disk which names a folder has: until then, one may still be the old file's. Throws the system's error. */
export function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
