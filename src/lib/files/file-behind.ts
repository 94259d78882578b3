import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { flawText, rightsFlaw } from './file-rights.ts'

/**
 * The file to which a symbolic link leads, which may not exist yet; without a link, the path itself. Throws if
 * other users could change the link or its target, and throws the system's error.
 */
export function fileBehind(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path
  const flaw = rightsFlaw(path)
  if (flaw !== null) throw new Error(flawText(flaw))
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  return fileBehind(resolve(realpathSync(dirname(path)), readlinkSync(path)))
}
