import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { idsPerMs } from '../../src/call/call-id.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { schemaVersion, versionOf } from '../../src/store/sqlite/migrate.ts'
import { migrations } from '../../src/store/migrations/migrations.ts'
import { applicationId, openForWriting } from '../../src/store/sqlite/open-store.ts'
import { BatchEncoder, WordList } from '../../src/store/write/record-batch.ts'
import { RollForward } from '../../src/store/rollup/roll-forward.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { rowsOf } from './rows-of.ts'
import { chatCall, sampleStartMs } from './sample-call.ts'

const count = 300
const hourMs = 3_600_000

/** A file as version 1 left it, with calls over ten hours. */
function writeVersion1(dir: TempDir): string {
  const path = dir.file('calls.db')
  const words = new WordList()
  const calls = Array.from({ length: count }, (_, i) =>
    chatCall((sampleStartMs + Math.floor((i / count) * 10 * hourMs)) * idsPerMs),
  )
  const batch = new BatchEncoder().encode(calls)
  words.accept(batch)
  const newest = openForWriting(dir.file('newest.db'))
  new CallWriter(newest, words).write(batch)
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA application_id = ${applicationId}; ${migrations[0]}; PRAGMA user_version = 1`)
  database.prepare('ATTACH ? AS newest').run(dir.file('newest.db'))
  for (const table of [
    'models',
    'endpoints',
    'upstreams',
    'instances',
    'clients',
    'user_agents',
    'labels',
    'calls',
  ]) {
    const columns = rowsOf(database, `SELECT name FROM main.pragma_table_info('${table}')`)
    const names = columns.map(({ name }) => String(name)).join(', ')
    database.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM newest.${table}`)
  }
  database.close()
  newest.close()
  return path
}

test('a database of version 1 is copied, migrated and rolled up; answers are right before, meanwhile and after', async () => {
  await using dir = await makeTempDir()
  const path = writeVersion1(dir)
  const database = openForWriting(path)
  assert.equal(versionOf(database), schemaVersion)
  const forward = new RollForward(database)
  const reader = openCallReader(path)
  assert.ok(typeof reader !== 'string')
  const edgesMs = Array.from({ length: 11 }, (_, hour) => sampleStartMs + hour * hourMs)
  const assertRight = async (): Promise<void> => {
    const { groups, summary } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'model' })
    assert.deepEqual(
      groups.map(({ figures }) => figures.calls),
      Array.from({ length: 10 }, () => count / 10),
    )
    assert.equal(summary.calls, count)
    assert.equal(summary.total_tokens, count * 1369)
  }
  await assertRight()
  while (forward.step(sampleStartMs + 24 * hourMs, 70)) await assertRight()
  await assertRight()
  assert.equal(database.prepare('SELECT watermark_seq FROM rollup_state').get()?.['watermark_seq'], count)
  reader.close()
  database.close()

  const copy = `${path}.before-v${schemaVersion}`
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  const old = new DatabaseSync(copy)
  assert.equal(versionOf(old), 1)
  assert.equal(old.prepare('SELECT count(*) AS n FROM calls').get()?.['n'], count)
  old.close()
})

test('a copy that is there already is kept, and an empty database is not copied', async () => {
  await using dir = await makeTempDir()
  const path = writeVersion1(dir)
  const copy = `${path}.before-v${schemaVersion}`
  new DatabaseSync(copy).close()
  openForWriting(path).close()
  assert.equal(statSync(copy).size, 0)

  const empty = dir.file('empty.db')
  const database = new DatabaseSync(empty)
  database.exec(`PRAGMA application_id = ${applicationId}; ${migrations[0]}; PRAGMA user_version = 1`)
  database.close()
  openForWriting(empty).close()
  assert.deepEqual(
    readdirSync(dir.file('')).filter((name) => name.startsWith('empty.db.before')),
    [],
  )
})
