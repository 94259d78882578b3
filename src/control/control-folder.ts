import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Where a gateway's control socket and its log are: in the data folder, or, if nothing can be written there, in a private
 * folder of this user's among the temporary files, which is the same for all who ask. So a gateway can be started and
 * stopped although it can record nothing.
 */
export function controlFolder(dataFolder: string): string {
  if (isWritable(dataFolder)) return dataFolder
  const user = process.getuid?.() ?? 0
  const name = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 12)
  const folder = join(tmpdir(), `tokenweir-${user}-${name}`)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // It is there, or cannot be: told below.
  }
  return isPrivate(folder, user) ? folder : dataFolder
}

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Others can write among temporary files, too: a folder that somebody else has made is not used. */
function isPrivate(folder: string, user: number): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found !== undefined && found.isDirectory() && found.uid === user && (found.mode & 0o77) === 0
}
