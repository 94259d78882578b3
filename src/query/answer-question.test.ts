import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatCall } from '../../test/store/sample-call.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { idsPerMs } from '../call/call-id.ts'
import type { StoreReader } from '../call/call-reader.ts'
import { PricesInForce } from '../pricing/prices-in-force.ts'
import { openCallReader } from '../store/read/call-query.ts'
import { openForWriting } from '../store/sqlite/open-store.ts'
import { answerQuestion } from './answer-question.ts'
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
