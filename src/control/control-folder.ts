import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { orNull } from '../lib/errors.ts'
import { isWritable } from '../lib/files/file-rights.ts'

/**
 * The folder of a gateway's control socket and log: the data folder. If that is not writable, a private
 * folder among the temporary files serves, so that the gateway can still be started and stopped.
 */
export function controlFolder(dataFolder: string): string {
  const fallback = temporaryFolder(dataFolder)
  return !isWritable(dataFolder) && isPrivate(fallback) ? fallback : dataFolder
}

/** Returns {@link controlFolder}, and creates it and its parents if possible. */
export function makeControlFolder(dataFolder: string): string {
  make(dataFolder)
  if (!isWritable(dataFolder)) make(temporaryFolder(dataFolder))
  return controlFolder(dataFolder)
}

function temporaryFolder(dataFolder: string): string {
  const name = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 12)
  return join(tmpdir(), `tokenweir-${process.getuid?.() ?? 0}-${name}`)
}

/** Makes a folder, if that is possible; a later write to the folder reports the error. */
function make(folder: string): void {
  orNull(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
}

/** True if the folder belongs to this user alone. Anyone can create a folder among the temporary files. */
function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  return (
    stats !== undefined &&
    stats.isDirectory() &&
    stats.uid === process.getuid?.() &&
    (stats.mode & 0o77) === 0
  )
}
