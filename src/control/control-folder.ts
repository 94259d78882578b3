import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * The folder of a gateway's control socket and log: the data folder, or, if that is not writable, a private folder of this user
 * among the temporary files. So a gateway that can record nothing can still be started and stopped.
 */
export function controlFolder(dataFolder: string): string {
  const other = temporaryFolder(dataFolder)
  return !isWritable(dataFolder) && isPrivate(other) ? other : dataFolder
}

/** The same folder for a process that begins to use it: missing folders are created, as far as possible. */
export function makeControlFolder(dataFolder: string): string {
  make(dataFolder)
  if (!isWritable(dataFolder)) make(temporaryFolder(dataFolder))
  return controlFolder(dataFolder)
}

function temporaryFolder(dataFolder: string): string {
  const name = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 12)
  return join(tmpdir(), `tokenweir-${process.getuid?.() ?? 0}-${name}`)
}

function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // A later write there reports the error.
  }
}

/** True if this user can make files in a folder. */
export function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** False for a folder of another user: anyone can create one among temporary files. */
function isPrivate(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return (
    found !== undefined &&
    found.isDirectory() &&
    found.uid === process.getuid?.() &&
    (found.mode & 0o77) === 0
  )
}
