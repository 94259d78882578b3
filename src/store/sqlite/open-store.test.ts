import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { holdsLock } from '../../../test/support/holds-lock.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { schemaVersion } from './schema.ts'
import { applicationId, assertSqliteVersion, openForReading, openForWriting } from './open-store.ts'
import { StoreError } from './store-error.ts'

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

test('a new database is made as it is meant to stay', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('a/b/calls.db'))
  const names = [
    'auto_vacuum',
    'application_id',
    'journal_mode',
    'synchronous',
    'trusted_schema',
    'busy_timeout',
    'user_version',
  ]
  assert.deepEqual(
    names.map((name) => pragma(database, name)),
    [2, applicationId, 'wal', 1, 0, 5000, schemaVersion],
  )
  database.close()
})

test('whatever moment of its making a reader comes at, it is empty or ready', async (context) => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const states = new Set<string>()
  const exec = Reflect.get(DatabaseSync.prototype, 'exec')
  let isLooking = false
  context.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    exec.call(this, sql)
    if (isLooking) return
    isLooking = true
    const opened = openForReading(path)
    states.add(typeof opened === 'string' ? opened : 'ready')
    if (typeof opened !== 'string') opened.close()
    isLooking = false
  })
  openForWriting(path).close()
  assert.deepEqual([...states], ['empty', 'ready'])
})

test('its files are for their owner alone, whatever the umask', async () => {
  await using dir = await makeTempDir()
  const umask = process.umask(0)
  try {
    const path = dir.file('data/calls.db')
    const database = openForWriting(path)
    const modes = [path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777)
    assert.deepEqual(modes, [0o600, 0o600, 0o600])
    assert.equal(statSync(dir.file('data')).mode & 0o777, 0o700)
    database.close()
  } finally {
    process.umask(umask)
  }
})

test('what is written is read, also after the writer has gone', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const writer = openForWriting(path)
  writer.exec("INSERT INTO models VALUES (1, 'm')")
  const count = (): unknown => {
    const reader = openForReading(path)
    assert.ok(typeof reader !== 'string')
    const { n } = { ...reader.prepare('SELECT count(*) AS n FROM models').get() }
    assert.throws(() => reader.exec('DELETE FROM models'), /readonly/)
    reader.close()
    return n
  }
  assert.equal(count(), 1)
  writer.close()
  assert.equal(count(), 1)
})

function otherDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

const absences = {
  missing: () => {},
  empty: (path: string) => writeFileSync(path, ''),
  foreign: (path: string) => otherDatabase(path, 'CREATE TABLE api_calls (x)'),
  other_version: (path: string) => {
    openForWriting(path).close()
    otherDatabase(path, `PRAGMA user_version = ${schemaVersion + 1}`)
  },
  text: (path: string) => writeFileSync(path, 'This is no database at all. '.repeat(100)),
  // A letter of the text lies on the end of what is looked at.
  accents: (path: string) => writeFileSync(path, `x${'é'.repeat(500)}`),
  damaged: (path: string) => writeFileSync(path, Buffer.alloc(3000, 0xfe)),
  no_file: (path: string) => mkdirSync(path),
}
for (const [absence, make] of Object.entries(absences)) {
  test(`a reader is told that the database is ${absence}`, async () => {
    await using dir = await makeTempDir()
    make(dir.file('calls.db'))
    assert.equal(
      openForReading(dir.file('calls.db')),
      absence === 'text' || absence === 'accents' ? 'foreign' : absence,
    )
  })
}

test('a reader sees nothing in a database that is only just being made', async () => {
  await using dir = await makeTempDir()
  otherDatabase(dir.file('calls.db'), `PRAGMA application_id = ${applicationId}`)
  assert.equal(openForReading(dir.file('calls.db')), 'empty')
})

for (const absence of ['foreign', 'other_version'] as const) {
  test(`a ${absence} database is refused, and left as it is`, async () => {
    await using dir = await makeTempDir()
    const path = dir.file('calls.db')
    absences[absence](path)
    const before = readFileSync(path)
    assert.throws(
      () => openForWriting(path),
      (error) => error instanceof StoreError && error.code === absence,
    )
    assert.deepEqual(readFileSync(path), before)
  })
}

test('a database of this version that lacks a table of ours is one of another version, and left as it is', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  openForWriting(path).close()
  otherDatabase(path, 'DROP TABLE imported_entries')
  const before = readFileSync(path)
  assert.equal(openForReading(path), 'other_version')
  assert.throws(
    () => openForWriting(path),
    (error) => error instanceof StoreError && error.code === 'other_version',
  )
  assert.deepEqual(readFileSync(path), before)
})

test('a folder that cannot be made is an error of the file system', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('plain'), '')
  assert.throws(() => openForWriting(join(dir.file('plain'), 'data', 'calls.db')), { code: 'ENOTDIR' })
})

test('an SQLite that can damage files is not used', () => {
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '4.0.0']) assertSqliteVersion(version)
  for (const version of ['3.51.2', '3.40.1', '2.99.99'])
    assert.throws(() => assertSqliteVersion(version), /too old/)
})

test(
  'a second connection of a process leaves the first one its locks',
  { skip: !existsSync('/proc/locks') },
  async () => {
    await using dir = await makeTempDir()
    const path = dir.file('calls.db')
    using first = openForWriting(path)
    first.exec('CREATE TABLE seen (x)')
    assert.ok(holdsLock(path))
    using second = openForWriting(path)
    assert.equal(second.prepare('SELECT count(*) AS n FROM seen').get()?.['n'], 0)
    assert.ok(holdsLock(path))
  },
)
