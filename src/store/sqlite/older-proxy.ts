import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { ForeignDatabase } from './foreign-database.ts'

/** The path for calls, if the older Python proxy's database has the usual name. */
const ownName = 'tokenweir.db'
const busyMs = 1000
const ownId = 0x546b_5772

/** The path of the telemetry database. */
export interface DatabasePlace {
  readonly path: string
  /** The older proxy's database that was named in its place; null if there is none. */
  readonly olderProxy: string | null
}

/** The database at a path. The older proxy's database is never changed: calls then go to another file beside it. */
export function databasePlace(path: string): DatabasePlace {
  return isOlderProxy(path)
    ? { path: join(dirname(path), ownName), olderProxy: path }
    : { path, olderProxy: null }
}

/** Recognises the database of the older proxy by its table of calls. Never throws. */
export function isOlderProxy(path: string): boolean {
  return (olderProxyCalls(path) ?? -1) >= 0
}

/** The number of calls in the older proxy's database; null for another or an unreadable file. */
export function olderProxyCalls(path: string): number | null {
  // Opening an empty file would delete the log beside it, which may hold calls.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return null
  try {
    using source = new ForeignDatabase(path, busyMs, { mayCopy: false })
    const { database } = source
    if (database.prepare('PRAGMA application_id').get()?.['application_id'] === ownId) return null
    const columns = database.prepare("SELECT name FROM pragma_table_info('api_calls')").all()
    const names = new Set(columns.map(({ name }) => name))
    if (!names.has('timestamp') || !names.has('model')) return null
    return Number(database.prepare('SELECT count(*) AS calls FROM api_calls').get()?.['calls'])
  } catch {
    return null
  }
}

/** The number of rows in the older proxy's database since the last import. */
export function waitingRows(database: DatabaseSync, olderProxy: string): number {
  const calls = olderProxyCalls(olderProxy) ?? 0
  const most = database.prepare('SELECT max(records) AS records FROM imports WHERE file = ?')
  return Math.max(0, calls - Number(most.get(resolve(olderProxy))?.['records'] ?? 0))
}
