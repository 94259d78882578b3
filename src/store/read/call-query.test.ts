import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { testStore } from '../../../test/store/any-store.ts'
import { fiveCalls, type StoreContent } from '../../../test/store/store-content.ts'
import { chatCall, idAt, sampleStartMs } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import type { CallQuestion } from '../../call/call-question.ts'
import type { StoreReader } from '../../call/call-reader.ts'
import { QueryTooSlowError } from '../../call/no-answer.ts'
import { openCallReader } from './call-query.ts'
import { HistoryWriter } from '../write/history-writer.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { Summing } from '../rollup/summing.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'

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
  writeCalls(database, calls)
  new HistoryWriter(database, { instance: 'k3v9', version: '0' }).write(minutes, events)
  const forward = new Summing(database)
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
      database.exec(`DELETE FROM calls; UPDATE folding SET until_ms = ${foldedMs}`)
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

test('sessions know what is left of them after folding, and figures by session are refused there', () =>
  withReader(
    async (reader, database) => {
      const foldedMs = sampleStartMs + 3
      database.exec(`DELETE FROM calls WHERE id < ${foldedMs * 4096};
        UPDATE folding SET until_ms = ${sampleStartMs + 900_000}`)
      const { sessions } = await reader.sessions({}, { limit: 9 })
      assert.equal(sessions.map(({ session, calls }) => [session, calls]).join(' '), 'run,1')
      const edgesMs = [sampleStartMs, sampleStartMs + 9]
      const questions: readonly Omit<CallQuestion, 'edgesMs'>[] = [
        { filter: {}, dimension: 'session' },
        { filter: {}, dimension: 'tag:env' },
        { filter: { session: ['run'] }, dimension: null },
        { filter: { tag: ['env:prod'] }, dimension: 'model' },
      ]
      for (const question of questions)
        await assert.rejects(() => reader.aggregate({ ...question, edgesMs }), { name: 'FoldedRangeError' })
    },
    { isRolled: true },
  ))

test('a tag of more sets than are looked up is found all the same', async () => {
  const calls = Array.from({ length: 5500 }, (_, index) => ({
    ...chatCall(idAt(index)),
    tags: `request:${index},env:${index % 2 === 0 ? 'a' : 'b'},all:1`,
  }))
  await using store = await open({ calls })
  const { reader } = store
  const edgesMs = [sampleStartMs, sampleStartMs + 6000]
  const countsOf = async (...tag: readonly string[]): Promise<readonly [number, number]> => {
    const { summary } = await reader.aggregate({ filter: { tag }, edgesMs, dimension: null })
    return [(await reader.list({ tag }, { limit: 10_000 })).length, summary.calls]
  }
  assert.deepEqual(await countsOf('all:1'), [5500, 5500])
  assert.deepEqual(await countsOf('all:1', 'env:b'), [2750, 2750])
  assert.deepEqual(await countsOf('request:7', 'all:1'), [1, 1])
  assert.deepEqual(await countsOf('request:7', 'env:a'), [0, 0])
  const { groups } = await reader.aggregate({ filter: {}, edgesMs, dimension: 'tag:env', top: 100 })
  assert.equal(groups.map(({ value: entry, figures }) => [entry, figures.calls]).join(' '), 'a,2750 b,2750')
})

test('of a session with very many calls the newest are told', async () => {
  await using store = await open({ calls: [] })
  store.database.exec(`INSERT INTO sessions VALUES (1, 'one key for all');
    INSERT INTO labels VALUES (1, 'POST');
    INSERT INTO endpoints VALUES (1, '/');
    WITH RECURSIVE n (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < 100010)
    INSERT INTO calls (id, seq, call_type_id, endpoint_id, method_id, stream, instance_id, outcome_id, attempts,
      usage_source_id, request_bytes, response_bytes, session_id)
    SELECT (${sampleStartMs} + n) * 4096, n + 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1 FROM n`)
  const { sessions } = await store.reader.sessions({}, { limit: 9 })
  const [session] = sessions
  assert.deepEqual(
    [sessions.length, session?.calls, session?.first_at, session?.last_at],
    [1, 100_000, new Date(sampleStartMs + 11).toISOString(), new Date(sampleStartMs + 100_010).toISOString()],
  )
})
