import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { versionOf } from './migrate.ts'

/**
 * Copies a database of an older schema that holds calls to `<path>.before-v<version>`, unless that was done before.
 * Whoever is killed meanwhile leaves no file of that name.
 */
export function backUpBefore(version: number, path: string, database: DatabaseSync): void {
  const found = versionOf(database)
  if (found === 0 || found >= version) return
  const copy = `${path}.before-v${version}`
  if (existsSync(copy) || database.prepare('SELECT 1 FROM calls LIMIT 1').get() === undefined) return
  const unfinished = `${copy}.unfinished-${process.pid}`
  rmSync(unfinished, { force: true })
  // SQLite would make it readable by others; it fills an empty file as well.
  closeSync(openSync(unfinished, 'wx', 0o600))
  try {
    database.prepare('VACUUM INTO ?').run(unfinished)
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
