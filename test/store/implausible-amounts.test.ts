/** Amounts that cannot be true spoil neither the rows nor the sums, wherever they come from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { PricesInForce } from '../../src/pricing/prices-in-force.ts'
import { answerQuestion } from '../../src/query/answer-question.ts'
import { checkStore } from '../../src/store/jobs/check-store.ts'
import { rebuildStore } from '../../src/store/jobs/rebuild-store.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { HistoryWriter } from '../../src/store/write/history-writer.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { chatCall, idAt, sampleStartMs } from './sample-call.ts'
import { writeCalls } from './write-calls.ts'

const nowMs = sampleStartMs + 48 * 3_600_000
const range = { fromMs: sampleStartMs - 3_600_000, toMs: nowMs }

function callAt(index: number, fields: Partial<CallRecord> = {}): CallRecord {
  return { ...chatCall(idAt(1000 * index)), ...fields }
}

/** All that the page's first view, the list, the sessions and the groupings say. */
async function assertAnswers(path: string, calls: number): Promise<void> {
  const store = openCallReader(path)
  assert.ok(typeof store === 'object')
  const sources = { store, note: null, prices: new PricesInForce(path) }
  const overview = { kind: 'overview', filter: range, timeZone: 'UTC', notes: [] } as const
  const { text } = await answerQuestion(sources, overview, nowMs)
  assert.ok(String(text).includes(`"calls":${calls}`), String(text))
  assert.equal((await store.list({}, { limit: 1000 })).length, calls)
  assert.ok((await store.sessions({}, { limit: 100 })).sessions.length > 0)
  for (const dimension of ['model', 'client', 'session'] as const) {
    const { summary } = await store.aggregate({ filter: {}, edgesMs: [range.fromMs, range.toMs], dimension })
    assert.equal(summary.calls, calls)
  }
  await store.servedModels(range.fromMs, range.toMs, 1000)
  await store.seenClients(range.fromMs, range.toMs, 1000)
  store.close()
}

test('a database that holds them already answers, goes on, and is counted anew', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  writeCalls(
    database,
    Array.from({ length: 100 }, (_, index) => callAt(index, { session: 'run' })),
  )
  database.exec(`UPDATE calls SET cost_nano_usd = 1000000000000000 WHERE id % 2 = 0;
    UPDATE calls SET input_tokens = 9000000000000000, duration_us = 9000000000000000;
    UPDATE calls SET output_tokens = 9223372036854775807, cost_nano_usd = 9223372036854775807
      WHERE seq < 4;
    UPDATE budget_minutes SET tokens = 9223372036854775807`)
  sumAll(database, nowMs)
  writeCalls(database, [callAt(101, { session: 'run' })])
  sumAll(database, nowMs)
  const history = new HistoryWriter(database, { instance: 'k3v9', version: '1' })
  history.usage({ fromMinute: 0, sinceMs: undefined })
  // Sums of before are larger than any number that can be read.
  database.exec('UPDATE sums SET cost_nano_usd = 61000000000000000 WHERE minutes < 1440')
  database.exec('UPDATE sums SET total_tokens = 9223372036854775807')
  database.close()

  await assertAnswers(path, 101)
  assert.ok(typeof checkStore(path, { full: true }) === 'object')
  const clock = { ...systemClock, wallTime: () => nowMs, delay: () => setImmediate() }
  for (const isWrong of [true, false]) {
    const outcome = await rebuildStore(path, { clock, onProgress: () => undefined })
    assert.ok(typeof outcome === 'object')
    assert.equal(outcome.wrongHours + outcome.wrongDays > 0, isWrong)
  }
  await assertAnswers(path, 101)
})

test('amounts beyond 1,000 USD, 1e9 tokens of a kind, or below zero are written as unknown', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const odd = [Number.MAX_SAFE_INTEGER, 9e15, 1e18, 1e300, Number.POSITIVE_INFINITY, -1]
  writeCalls(database, [
    callAt(0, { inputTokens: 1e9, costNanoUsd: 1e12 }),
    ...odd.map((amount, index) =>
      callAt(1 + index, { inputTokens: amount, costNanoUsd: amount, durationMs: amount, ttftMs: amount }),
    ),
    callAt(20, { inputTokens: 1e9 + 1, costNanoUsd: 1e12 + 1, cacheSavedNanoUsd: -5 }),
  ])
  const rows = database
    .prepare('SELECT input_tokens, cost_nano_usd, duration_us, cache_saved_nano_usd FROM calls ORDER BY id')
    .all()
    .map((row) => Object.values(row))
  const { durationMs } = chatCall()
  assert.deepEqual(rows, [
    [1e9, 1e12, (durationMs ?? 0) * 1000, null],
    ...odd.map(() => [null, null, null, null]),
    [null, null, (durationMs ?? 0) * 1000, -5],
  ])
  sumAll(database, nowMs)
  database.close()
  const report = checkStore(dir.file('calls.db'), { full: true })
  assert.ok(typeof report === 'object')
  assert.deepEqual([report.integrity, report.hours.wrongMs, report.days.wrongMs], [[], [], []])
})
