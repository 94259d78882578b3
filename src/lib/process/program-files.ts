import { globSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { orNull } from '../errors.ts'

/** The folder of all modules: `src` or, built, `dist`. */
const root = resolve(import.meta.dirname, '../..')
const manifest = `${dirname(root)}/package.json`
const atStart = stateOf(manifest)
/** A younger process is not checked, because nobody updates a program within seconds of its start. */
const youngS = 2

let change: string | null = null

/**
 * Why no thread or process may be started from the program's files: they have changed since this process
 * started, and two versions must not be mixed. Null if the files are unchanged.
 */
export function programChange(): string | null {
  if (change !== null || process.uptime() < youngS) return change
  if (stateOf(manifest) !== atStart || isNewer()) {
    change = `the program in ${root} was replaced or removed since this process started; a restart of this process mends it`
  }
  return change
}

/** True if a file or folder has been written since the start. */
function isNewer(): boolean {
  const names = globSync('**/*', { cwd: root }).map((name) => `${root}/${name}`)
  const isWritten = (path: string): boolean => statSync(path).mtimeMs > performance.timeOrigin
  return orNull(() => [root, ...names].some(isWritten)) ?? true
}

function stateOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}
