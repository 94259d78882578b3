import { renameSync, rmSync, writeFileSync } from 'node:fs'

/** Writes a file whole or not at all, for its owner alone: a reader sees the old content or the new. Throws the system's error. */
export function replaceFile(path: string, content: string): void {
  const temporary = `${path}.${process.pid}.new`
  try {
    writeFileSync(temporary, content, { mode: 0o600 })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
