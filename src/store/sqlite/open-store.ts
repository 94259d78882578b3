import { chmodSync, closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orNull } from '../../lib/errors.ts'
import { databasePlace } from './older-proxy.ts'
import { hasSchema, makeSchema, versionOf } from './schema.ts'
import { sqliteCode, sqliteCodes, sqliteFault } from './sqlite-code.ts'
import { StoreError } from './store-error.ts'

/** "TkWr": marks our files among other programs' SQLite databases. */
export const applicationId = 0x546b_5772

/** Older versions can damage a file that two processes use at once: https://sqlite.org/wal.html#walresetbug */
const oldestSafeSqlite: readonly number[] = [3, 51, 3]

/** Reasons why no calls can be read: expected states, with their texts in {@link absenceText}. */
export type StoreAbsence =
  | 'missing'
  | 'empty'
  | 'other_version'
  | 'foreign'
  | 'damaged'
  | 'unreadable'
  | 'no_file'
  | 'busy'

export const absenceText: Readonly<Record<StoreAbsence, string>> = {
  missing: 'There is no database yet: the first run of the gateway creates it. Or name another with --db.',
  empty: 'The database is still being created and has no calls yet.',
  other_version:
    'The database is of another version of tokenweir and is left as it is. To start again, export its calls with that version (`tokenweir db export --out calls.csv`), move the file away, and run `tokenweir db import calls.csv`.',
  foreign:
    'The file belongs to another program and is left as it is: choose another path, as in --db data/tokenweir.db.',
  damaged:
    'The file is damaged, or no database: `tokenweir db check` says where, `sqlite3` with .recover may save its calls.',
  unreadable:
    'This user cannot read the file or its folder: run it as the user whose file it is, or name another with --db.',
  no_file: 'This is a folder or a device: name a file with --db.',
  busy: 'The database was locked by another process for too long.',
}

/** https://sqlite.org/fileformat2.html#the_database_header */
const header = { text: 'SQLite format 3\0', bytes: 72, applicationIdAt: 68 } as const

/**
 * True if an open file begins as our files do. SQLite does not read the first page again, and would continue
 * to write into a file that no program can read.
 */
export function hasOurHeader(file: number): boolean {
  const bytes = Buffer.alloc(header.bytes)
  readSync(file, bytes, 0, bytes.length, 0)
  const isSqlite = bytes.toString('latin1', 0, header.text.length) === header.text
  return isSqlite && bytes.readUInt32BE(header.applicationIdAt) === applicationId
}

/**
 * True if SQLite refused a text file: damage makes no text, so the path was mistyped. The file is read only
 * after an error, because closing it would drop the locks of this process's connections.
 */
function isTextRefused(error: unknown, path: string): boolean {
  if (sqliteCode(error) !== sqliteCodes.notADatabase) return false
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(header.bytes)
    const start = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
    // The last letter may be cut.
    const text = orNull(() => new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true }))
    return text !== null && !start.some((byte) => byte < 9)
  } finally {
    closeSync(file)
  }
}

/** Milliseconds for which the one writer waits for another process's lock. */
const writerBusyMs = 5000
const readerBusyMs = 250

/** Opens the database for its writer, and creates it if it is missing. Throws errors that `problemOf` explains. */
export function openForWriting(path: string): DatabaseSync {
  // A writer replays the log into the file: never into a file that is not ours.
  assertOurs(path)
  makePrivateFile(path)
  const database = new DatabaseSync(path, { timeout: writerBusyMs, enableForeignKeyConstraints: false })
  try {
    assertSqliteVersion(sqliteVersion(database))
    if (isEmpty(database)) {
      // Sets the id before the first page is written, so that no program finds the page without it.
      database.exec(
        `BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${applicationId}; COMMIT`,
      )
    }
    assertWritable(database)
    database.exec(`PRAGMA busy_timeout = ${writerBusyMs}`)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    database.exec('PRAGMA trusted_schema = OFF')
    makeSchema(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Throws `StoreError` if the file is a database of another program or version. Changes nothing. */
function assertOurs(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile() || stats.size === 0) return
  const database = new DatabaseSync(path, { readOnly: true, timeout: writerBusyMs })
  try {
    assertSqliteVersion(sqliteVersion(database))
    if (isEmpty(database)) return
    assertWritable(database)
  } catch (error) {
    if (isTextRefused(error, path)) throw new StoreError('foreign', absenceText.foreign)
    // Only a writer can repair a file whose rollback journal remains.
    if (sqliteCode(error) !== sqliteCodes.readOnly) throw error
  } finally {
    database.close()
  }
}

/**
 * Opens the database for a reader, which never writes, creates or checkpoints. For the older proxy's path,
 * opens our file beside it.
 */
export function openForReading(path: string): DatabaseSync | StoreAbsence {
  const size = sizeOf(path)
  if (typeof size === 'string') return size
  if (size === undefined) return 'missing'
  if (size === 0) return 'empty'
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: readerBusyMs })
    assertSqliteVersion(sqliteVersion(database))
    const absence = isEmpty(database) ? 'empty' : (refusalOf(database) ?? unmade(database))
    if (absence === null) {
      database.exec('PRAGMA trusted_schema = OFF')
      return database
    }
    database.close()
    const realPath = absence === 'foreign' ? databasePlace(path).path : path
    return realPath === path ? absence : openForReading(realPath)
  } catch (error) {
    if (database?.isOpen === true) database.close()
    const absence = isTextRefused(error, path) ? 'foreign' : absenceOf(error)
    if (absence === null) throw error
    return absence
  }
}

/** The size in bytes; undefined without a file. */
function sizeOf(path: string): number | undefined | 'unreadable' | 'no_file' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isFile() === false ? 'no_file' : stats?.size
  } catch {
    return 'unreadable'
  }
}

/** An empty database in memory. */
export function openEmpty(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  makeSchema(database)
  return database
}

/** Throws if the SQLite of this Node has the bug. */
export function assertSqliteVersion(version: string): void {
  const parts = version.split('.').map(Number)
  for (const [index, least] of oldestSafeSqlite.entries()) {
    const part = parts[index] ?? 0
    if (part > least) return
    if (part < least) throw new Error(`SQLite ${version} is too old: ${oldestSafeSqlite.join('.')} is needed`)
  }
}

function sqliteVersion(database: DatabaseSync): string {
  return String(database.prepare('SELECT sqlite_version() AS version').get()?.['version'])
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA page_count').get()?.['page_count'] === 0
}

function unmade(database: DatabaseSync): StoreAbsence | null {
  return versionOf(database) === 0 ? 'empty' : null
}

/** Throws `StoreError` if the open database belongs to another program or version. */
function assertWritable(database: DatabaseSync): void {
  const refusal = refusalOf(database)
  if (refusal !== null)
    throw new StoreError(refusal, refusal === 'damaged' ? 'its tables are missing' : absenceText[refusal])
}

function refusalOf(database: DatabaseSync): 'other_version' | 'foreign' | 'damaged' | null {
  const id = database.prepare('PRAGMA application_id').get()?.['application_id']
  if (id !== applicationId) return 'foreign'
  // Read the version first, because another process may be creating the tables.
  if (versionOf(database) === 0) return null
  const calls = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'calls'").get()
  if (calls === undefined) return 'damaged'
  return hasSchema(database) ? null : 'other_version'
}

/** The state of the file after an error of SQLite; `null` if it is another error. */
export function absenceOf(error: unknown): StoreAbsence | null {
  const fault = sqliteFault(error)
  if (fault === 'unavailable') return 'unreadable'
  return fault === 'damaged' || fault === 'busy' ? fault : null
}

/** SQLite gives `-wal` and `-shm` the mode of the file itself, so this is enough for all three. */
function makePrivateFile(path: string): void {
  const createdFolder = mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (createdFolder !== undefined) chmodSync(dirname(path), 0o700)
  // An existing file is not opened. Closing it would drop all locks of this process's connections on it (fcntl(2)).
  // The last connection to close would then delete the log under them.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) chmodSync(path, 0o600)
  else closeSync(openSync(path, 'a', 0o600))
}
