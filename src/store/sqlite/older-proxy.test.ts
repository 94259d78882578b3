import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { databasePlace } from './older-proxy.ts'

test('a look at an empty file leaves the log beside it: SQLite deletes it when it opens the file', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeFileSync(path, '')
  writeFileSync(`${path}-wal`, 'what a database held that is gone')
  assert.deepEqual(databasePlace(path), { path, olderProxy: null })
  assert.equal(readFileSync(`${path}-wal`, 'utf8'), 'what a database held that is gone')
})
