/** What a call cost is written with its row, by the prices in force at that moment, whatever the price file is. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatCallId } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { openImport } from '../../src/import/open-import.ts'
import { ndjsonText } from '../../src/query/row-text.ts'
import { importCalls } from '../../src/store/jobs/import-calls.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { callJson } from '../support/call-json.ts'
import { override, somePrices, writePrices } from '../support/price-list.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { bareCall, chatCall, idAt, sampleStartMs } from './sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { rowsIn } from './rows-of.ts'

const unpriced = { costNanoUsd: null, priceSource: null, priceKey: null } as const
/** 1,204 tokens in, 1,024 of them cached, 165 out: 180 × 0.25 + 1,024 × 0.025 + 165 × 2 USD per million. */
const chatNanoUsd = 45_000 + 25_600 + 330_000

type Told = readonly [cost: unknown, source: unknown, key: unknown]

function costsIn(path: string): readonly Told[] {
  return rowsIn(path, 'SELECT cost_usd, price_source, price_key FROM calls_readable ORDER BY id').map(
    (row) => [row['cost_usd'], row['price_source'], row['price_key']] as const,
  )
}

test('each call costs what its upstream said, else what the prices say, else nothing that is known', async () => {
  await using dir = await makeTempDir()
  writePrices(dir.file('model_costs.json'), {
    overrides: { '127.0.0.1:8080/qwen3-8b-q4.gguf': override(0, 0) },
  })
  const chat = (ms: number, parts: Partial<CallRecord> = {}): CallRecord => ({
    ...chatCall(idAt(ms)),
    ...unpriced,
    ...parts,
  })
  const cases: readonly (readonly [call: CallRecord, told: Told])[] = [
    [chat(0), [chatNanoUsd / 1e9, 'litellm', 'gpt-5.1-mini']],
    [chat(1, { costNanoUsd: 77, priceSource: 'upstream' }), [77e-9, 'upstream', null]],
    [chat(2, { model: 'no-such', responseModel: null }), [null, null, null]],
    [chat(3, { upstream: '127.0.0.1:8080' }), [null, null, null]],
    [
      chat(4, { upstream: '127.0.0.1:8080', model: 'qwen3-8b-q4.gguf', responseModel: 'qwen3' }),
      [0, 'user', '127.0.0.1:8080/qwen3-8b-q4.gguf'],
    ],
    [
      chat(5, {
        callType: 'embedding',
        model: 'text-embedding-3-small',
        responseModel: null,
        inputTokens: 8000,
        outputTokens: 0,
        cachedInputTokens: 0,
      }),
      [0.00016, 'litellm', 'text-embedding-3-small'],
    ],
    [
      {
        ...bareCall(idAt(6)),
        callType: 'rerank',
        outcome: 'ok',
        upstream: 'api.cohere.com',
        model: 'rerank-v3.5',
        searchUnits: 3,
      },
      [0.006, 'litellm', 'rerank-v3.5'],
    ],
    [{ ...bareCall(idAt(7)), upstream: 'api.openai.com', model: 'gpt-5.1-mini' }, [null, null, null]],
    // An upstream may report any count it likes.
    [chat(8, { inputTokens: -5, cachedInputTokens: 1e15, outputTokens: 0 }), [null, null, null]],
  ]
  const dbPath = dir.file('calls.db')
  const writer = new WriterThread({ dbPath, instance: 'a', version: '1' })
  for (const [call] of cases) writer.finish(call)
  await eventually('they are rows', () => writer.figures().written === cases.length)
  await writer.close()
  assert.deepEqual(
    costsIn(dbPath),
    cases.map(([, told]) => told),
  )
})

test('another price counts for the next call; what was written stays', async () => {
  await using dir = await makeTempDir()
  const [dbPath, prices] = [dir.file('calls.db'), dir.file('model_costs.json')]
  writePrices(prices)
  const writer = new WriterThread({ dbPath, instance: 'a', version: '1' })
  let count = 0
  const record = async (): Promise<void> => {
    writer.finish({ ...chatCall(idAt(count++)), ...unpriced })
    await eventually('it is a row', () => writer.figures().written === count)
  }
  await record()
  writePrices(prices, { overrides: { 'gpt-5.1-mini': override(1000, 0) } })
  await record()
  // A price holds from its day on, by the time at which the call began.
  const later = new Date(sampleStartMs + 3).toISOString()
  writePrices(prices, { overrides: { 'gpt-5.1-mini': override(1, 0, later) } })
  await record()
  await record()
  rmSync(prices)
  writePrices(prices, { synced_at: '2026-11-21T04:00:00Z', models: {} })
  await record()
  await writer.close()
  assert.deepEqual(costsIn(dbPath), [
    [chatNanoUsd / 1e9, 'litellm', 'gpt-5.1-mini'],
    [1.204, 'user', 'gpt-5.1-mini'],
    [chatNanoUsd / 1e9, 'litellm', 'gpt-5.1-mini'],
    [0.001204, 'user', 'gpt-5.1-mini'],
    [null, null, null],
  ])
})

test('a price file that cannot be read is told of with its place; the last good one stays in force until it is mended', async () => {
  await using dir = await makeTempDir()
  const [dbPath, prices] = [dir.file('calls.db'), dir.file('model_costs.json')]
  writePrices(prices)
  const writer = new WriterThread({ dbPath, instance: 'a', version: '1' })
  const record = (ms: number): void => writer.finish({ ...chatCall(idAt(ms)), ...unpriced })
  record(0)
  await eventually('it is a row', () => writer.figures().written === 1)
  writeFileSync(prices, '{\n  "models": {"gpt-5.1-mini": [}\n}\n')
  record(1)
  // It may have been read before it was whole.
  const said =
    /^prices_unreadable: .*model_costs\.json, line 2, column 3\d: .+ The prices from before stay in force$/
  await eventually('the warning is there', () =>
    writer.warnings().some(({ code, message }) => said.test(`${code}: ${message}`)),
  )
  await eventually('it is a row', () => writer.figures().written === 2)
  // No call need end for it to be seen.
  writePrices(prices, { models: somePrices })
  await eventually('the warning is gone', () => writer.warnings().length === 0)
  await writer.close()
  assert.equal(costsIn(dbPath)[1]?.[0], chatNanoUsd / 1e9)
})

test('a batch that is written again, after the database was busy, costs the same', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const words = new Dictionary()
  const writer = new CallWriter(database, words, {
    costOf: ({ startedAtMs }) => ({
      costNanoUsd: startedAtMs % 1000,
      cacheSavedNanoUsd: 0,
      source: 'new',
      key: 'k',
    }),
  })
  const encoder = new BatchEncoder()
  const batch = encoder.encode([1, 2, 3].map((ms) => Object.assign(chatCall(idAt(ms)), unpriced)))
  words.accept(batch)
  database.exec(
    'CREATE TEMP TRIGGER full BEFORE INSERT ON budget_minutes BEGIN SELECT raise(ROLLBACK, 1); END',
  )
  assert.throws(() => writer.write(batch))
  database.exec('DROP TRIGGER full')
  assert.equal(writer.write(batch).written, 3)
  const labels = database.prepare("SELECT count(*) AS n FROM labels WHERE text IN ('new', 'k')").get()
  assert.equal(labels?.['n'], 2)
  database.close()
  assert.deepEqual(
    costsIn(dir.file('calls.db')),
    [1, 2, 3].map((nano) => [nano / 1e9, 'new', 'k']),
  )
})

test('an imported call keeps the cost of its file and what the cache saved; one without a cost gets both', async () => {
  await using dir = await makeTempDir()
  const [file, db] = [dir.file('calls.ndjson'), dir.file('calls.db')]
  writeFileSync(
    file,
    ndjsonText([
      callJson({ id: formatCallId(idAt(1)), cost_usd: 0.5, price_source: 'a list', cache_saved_usd: 0.25 }),
      callJson({ id: formatCallId(idAt(2)), cost_usd: null, price_source: null, price_key: null }),
    ]),
  )
  const pricer = { costOf: () => ({ costNanoUsd: 3e9, cacheSavedNanoUsd: 1e9, source: 'new', key: 'k' }) }
  const request = { ...(await openImport(file, null)), file, dryRun: false }
  await importCalls(db, request, { clock: systemClock, onProgress: () => undefined, pricer })
  const sql = 'SELECT cost_usd, price_source, cache_saved_usd FROM calls_readable ORDER BY id'
  assert.deepEqual(
    rowsIn(db, sql).map((row) => Object.values(row)),
    [
      [0.5, 'a list', 0.25],
      [3, 'new', 1],
    ],
  )
})

test('a fault of the prices costs no row', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const words = new Dictionary()
  const writer = new CallWriter(database, words, {
    costOf: () => {
      throw new Error('a fault')
    },
  })
  const batch = new BatchEncoder().encode([{ ...chatCall(idAt(1)), ...unpriced }, chatCall(idAt(2))])
  words.accept(batch)
  assert.deepEqual(writer.write(batch), { written: 2, dropped: 0, conflicts: 0 })
  database.close()
  assert.deepEqual(costsIn(dir.file('calls.db')), [
    [null, null, null],
    [0.0004125, 'snapshot', 'openai/gpt-5.1-mini'],
  ])
})
