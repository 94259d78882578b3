import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatCall } from '../../test/store/sample-call.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { idsPerMs } from '../call/call-id.ts'
import type { StoreReader } from '../call/call-reader.ts'
import { PricesInForce } from '../pricing/prices-in-force.ts'
import { openCallReader } from '../store/read/call-query.ts'
import { foldCalls } from '../store/rollup/fold-calls.ts'
import { Summing } from '../store/rollup/summing.ts'
import { openForWriting } from '../store/sqlite/open-store.ts'
import { answerQuestion, type EndedAnswer } from './answer-question.ts'
import { emptyStore } from './query-service.ts'
import type { CallList } from '../api/calls.ts'
import { writeCalls } from '../../test/store/write-calls.ts'

const nowMs = Date.UTC(2026, 10, 21)

test('the calls that are listed and what is told of all of them are of one instant', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  let written = 0
  const write = (): void => {
    const model = `model-${written}`
    writeCalls(database, [{ ...chatCall((nowMs - 1000 + written++) * idsPerMs), model }])
  }
  write()
  const reader = openCallReader(path)
  assert.ok(typeof reader === 'object')
  // Calls end while the answer is put together.
  const store: StoreReader = {
    ...emptyStore,
    list: async (filter, page) => {
      const calls = await reader.list(filter, page)
      write()
      return calls
    },
    aggregate: (question) => reader.aggregate(question),
    choices: () => reader.choices(),
    extent: () => reader.extent(),
    inReadTransaction: (ask) => reader.inReadTransaction(ask),
  }
  const sources = { store, note: null, prices: new PricesInForce(path) }
  const ask = async (): Promise<CallList> => {
    const question = {
      kind: 'list',
      filter: {},
      limit: 10,
      sort: 'started_at',
      rising: false,
      beforeId: null,
      format: 'json',
    } as const
    const { text } = await answerQuestion(sources, question, nowMs)
    return JSON.parse(String(text)) as CallList
  }
  for (const expected of [1, 2, 3]) {
    const answer = await ask()
    const { count, summary, available_models: models } = answer
    assert.deepEqual([count, summary.calls, models.length], [expected, expected, expected])
  }
  reader.close()
  database.close()
})

test('a follower gets no call twice after the newest rows, which were imported, are folded', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  using database = openForWriting(path)
  const written = (ageMs: number): void =>
    writeCalls(
      database,
      Array.from({ length: 5 }, (_, index) => chatCall((nowMs - ageMs) * idsPerMs + index)),
    )
  const reader = openCallReader(path)
  assert.ok(typeof reader === 'object')
  const follow = async (afterSeq: number | null): Promise<EndedAnswer> => {
    const sources = { store: reader, note: null, prices: new PricesInForce(path) }
    const { text } = await answerQuestion(sources, { kind: 'ended', afterSeq }, nowMs)
    return JSON.parse(String(text)) as EndedAnswer
  }
  const dayMs = 86_400_000
  written(1000)
  written(9 * dayMs)
  const before = await follow(null)
  const summing = new Summing(database)
  while (summing.step(nowMs, 50));
  const fold = foldCalls(database)
  while (fold(nowMs - 2 * dayMs, 10) !== 0);
  assert.deepEqual(await follow(before.last_seq), { calls: [], skipped: 0, last_seq: before.last_seq })
  written(0)
  const { calls, skipped } = await follow(before.last_seq)
  assert.deepEqual([calls.length, skipped], [5, 0])
  reader.close()
})
