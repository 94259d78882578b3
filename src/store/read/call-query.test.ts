import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fiveCalls, type StoreContent, testStore } from '../../../test/store/any-store.ts'
import { sampleStartMs } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import type { StoreReader } from '../../call/call-reader.ts'
import { QueryTooSlowError } from '../../call/no-answer.ts'
import { openCallReader } from './call-query.ts'
import { CallWriter } from '../write/call-writer.ts'
import { HistoryWriter } from '../write/history-writer.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'
import { RollForward } from '../rollup/roll-forward.ts'

interface OpenOptions {
  readonly isRolled?: boolean
  readonly isOver?: () => boolean
}

async function open(
  { calls, minutes = [], events = [] }: StoreContent,
  { isRolled = false, isOver = () => false }: OpenOptions = {},
): Promise<AsyncDisposable & { readonly reader: StoreReader; readonly database: DatabaseSync }> {
  const dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const words = new WordList()
  const batch = new BatchEncoder().encode(calls)
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  new HistoryWriter(database, { instance: 'k3v9', version: '0' }).write(minutes, events)
  const forward = new RollForward(database)
  if (isRolled) for (let more = true; more;) more = forward.step(sampleStartMs + 100 * 3_600_000, 2)
  const reader = openCallReader(dir.file('calls.db'), isOver)
  assert.ok(typeof reader !== 'string')
  const close = async (): Promise<void> => {
    reader.close()
    database.close()
    await dir[Symbol.asyncDispose]()
  }
  return { reader, database, [Symbol.asyncDispose]: close }
}

testStore('SQLite', open)
testStore('SQLite, rolled up', (content) => open(content, { isRolled: true }))

/** Over five calls. */
async function withReader(
  work: (reader: StoreReader, database: DatabaseSync) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  await using store = await open(fiveCalls, options)
  await work(store.reader, store.database)
}

test('a reader that is told to stop stops', () =>
  withReader(
    async (reader) => {
      const edgesMs = [sampleStartMs, sampleStartMs + 3_600_000]
      await assert.rejects(
        () => reader.aggregate({ filter: { min_ms: 1 }, edgesMs, dimension: null }),
        QueryTooSlowError,
      )
      await assert.rejects(() => reader.list({ min_ms: 1 }, { limit: 1 }), QueryTooSlowError)
      await assert.rejects(() => reader.list({}, { limit: 1, sort: 'ttft' }), QueryTooSlowError)
      assert.equal((await reader.list({}, { limit: 9 })).length, 5)
    },
    { isOver: () => true },
  ))

test('what was folded is answered in quarter hours, or refused with the first instant that is not', () =>
  withReader(
    async (reader, database) => {
      const foldedMs = sampleStartMs + 3_600_000
      database.exec(`DELETE FROM calls; UPDATE rollup_state SET folded_until = ${foldedMs / 900_000}`)
      assert.equal(await reader.foldedUntilMs(), foldedMs)
      const inside = [sampleStartMs + 4, foldedMs + 5]
      const { summary } = await reader.aggregate({ filter: {}, edgesMs: inside, dimension: 'model' })
      assert.equal(summary.calls, 5)
      const refused = { name: 'FoldedRangeError', unfoldedFromMs: foldedMs }
      const minutes = [sampleStartMs, sampleStartMs + 60_000, foldedMs]
      await assert.rejects(() => reader.aggregate({ filter: {}, edgesMs: minutes, dimension: null }), refused)
      await assert.rejects(
        () => reader.aggregate({ filter: { min_ms: 1 }, edgesMs: inside, dimension: null }),
        refused,
      )
      assert.deepEqual(await reader.extent(), { firstMs: sampleStartMs, lastMs: foldedMs - 1 })
      assert.deepEqual((await reader.choices()).models, ['b', 'gpt-5.1-mini'])
    },
    { isRolled: true },
  ))
