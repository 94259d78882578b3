import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { chatCall } from '../../test/store/sample-call.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { idsPerMs } from '../call/call-id.ts'
import { CallWriter } from './call-writer.ts'
import { openForWriting } from './open-store.ts'
import { BatchEncoder, WordList } from './record-batch.ts'
import { openServedReader } from './served-models.ts'

test('the newest so many calls of a time begin where they do', async () => {
  await using directory = await makeTempDir()
  const path = join(directory.path, 'calls.db')
  const database = openForWriting(path)
  const words = new WordList()
  const firstMs = Date.UTC(2026, 10, 21)
  const batch = new BatchEncoder().encode(
    Array.from({ length: 10 }, (_, index) => ({
      ...chatCall((firstMs + index * 1000) * idsPerMs),
      upstream: index < 3 ? 'one.example' : 'other.example',
    })),
  )
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  database.close()
  const reader = openServedReader(path)
  assert.ok(typeof reader !== 'string')
  assert.equal(reader.newestFrom(0, firstMs + 60_000, 10), 0)
  assert.equal(reader.newestFrom(firstMs + 500, firstMs + 60_000, 20), firstMs + 500)
  // Of the first seven, whose last is the seventh.
  const fromMs = reader.newestFrom(0, firstMs + 6001, 5)
  const counted = reader.between(fromMs + 1, firstMs + 6001)
  assert.deepEqual(
    counted.map(({ upstream, calls }) => [upstream, calls]),
    [
      ['one.example', 1],
      ['other.example', 4],
    ],
  )
  assert.equal(reader.newestFrom(0, firstMs - 1, 5), 0)
  reader.close()
})
