/** Unpriced has one meaning: a call says how much it used, in tokens or in search units, and has no cost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { isUnpriced } from '../../src/call/unpriced.ts'
import { CallSeries } from '../../src/metrics/call-series.ts'
import { Registry } from '../../src/metrics/prom-client.ts'
import { alertsAnswer } from '../../src/query/alerts-answer.ts'
import { repriceStore } from '../../src/store/jobs/reprice-store.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { chatCall, idAt, sampleStartMs } from './sample-call.ts'
import { writeCalls } from './write-calls.ts'

const nowMs = sampleStartMs + 120_000
const none = { costNanoUsd: null, priceSource: null, priceKey: null }
const unused = { usageSource: 'none', inputTokens: null, outputTokens: null, totalTokens: null } as const

/** By the part that each plays; three of them are unpriced. */
const kinds: readonly Partial<CallRecord>[] = [
  { costNanoUsd: 5 },
  none,
  none,
  { ...none, ...unused, callType: 'rerank', searchUnits: 3 },
  { ...unused, callType: 'rerank', searchUnits: 3, costNanoUsd: 6 },
  { ...none, ...unused, outcome: 'upstream_error', status: 500, failureCode: 'upstream_http' },
]
const common = { model: 'm', session: 'run', upstream: 'api.example.com' }
const calls = kinds.map((kind, index): CallRecord =>
  Object.assign(chatCall(idAt(1000 * index)), common, kind),
)

test('sums, sessions, prices, alerts, metrics and re-pricing count the same calls, a rerank by search units among them', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  writeCalls(path, calls)
  const counted: number[] = [calls.filter(isUnpriced).length]
  for (const isSummed of [false, true]) {
    if (isSummed) {
      const database = openForWriting(path)
      sumAll(database, nowMs + 7_200_000)
      database.close()
    }
    const reader = openCallReader(path)
    assert.ok(typeof reader === 'object')
    const edgesMs = [sampleStartMs, sampleStartMs + 900_000]
    const { summary } = await reader.aggregate({ filter: {}, edgesMs, dimension: null })
    const { models } = await reader.servedModels(sampleStartMs, nowMs, 1000)
    const { unpriced } = await alertsAnswer(reader, { kind: 'alerts', afterSeq: null }, nowMs)
    const [session] = (await reader.sessions({}, { limit: 1 })).sessions
    counted.push(
      summary.unpriced_calls,
      models.reduce((sum, each) => sum + each.unpriced_calls, 0),
      unpriced[0]?.calls ?? 0,
      session?.unpriced_calls ?? 0,
    )
    assert.equal(summary.no_usage_calls, 1)
    reader.close()
  }
  const registry = new Registry()
  new CallSeries(registry).count(calls)
  counted.push(Number(/^tokenweir_unpriced_calls_total (\d+)$/m.exec(await registry.metrics())?.[1]))
  const cost = { costNanoUsd: 1, cacheSavedNanoUsd: 0, source: 'user', key: 'm' }
  const request = {
    fromMs: sampleStartMs,
    toMs: nowMs,
    model: null,
    onlyUnpriced: true,
    dryRun: true,
    timeZone: 'UTC',
  }
  const context = { clock: systemClock, onProgress: () => undefined, pricer: { costOf: () => cost } }
  const result = await repriceStore(path, request, context)
  assert.ok(typeof result === 'object')
  counted.push(result.looked_calls)
  assert.deepEqual(new Set(counted), new Set([3]), counted.join())
})

test('what the forecast of the budget goes by is what the budget counts', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  // Imported calls are none of it; of a call that broke off, what it most likely used is.
  const cut = { ...unused, outcome: 'upstream_cut', ttfbMs: 5, requestBytes: 4000, chunks: 10 } as const
  const some = [
    chatCall((nowMs - 30_000) * 4096),
    { ...chatCall((nowMs - 20_000) * 4096), source: 'litellm' },
    { ...chatCall((nowMs - 10_000) * 4096), ...cut },
  ]
  writeCalls(path, some)
  const reader = openCallReader(path)
  assert.ok(typeof reader === 'object')
  const { day } = await alertsAnswer(reader, { kind: 'alerts', afterSeq: null }, nowMs + 60_000)
  reader.close()
  assert.deepEqual(day.tokens_by_hour, [...Array.from({ length: 23 }, () => 0), 1204 + 165 + 1000 + 10])
})
