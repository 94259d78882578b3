import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimeFrame } from '../charts/time-frame.ts'
import type { Overview } from '../../src/api/overview.ts'
import { figureOf } from '../charts/chart-series.ts'
import { latencyPanel, errorPanel, requestPanel, speedPanel } from './overview-charts.ts'

const frame: TimeFrame = { fromMs: 0, toMs: 180_000, startsMs: [0, 60_000, 120_000], bucketMs: 60_000 }
const answer = (counts: readonly number[]): Overview =>
  ({
    buckets: {
      calls: [10, 0, 30],
      errors: [1, 0, 30],
      error_rate: [0.1, null, 1],
      duration_n: counts,
      duration_p50_ms: [100, 110, null],
      duration_p95_ms: [200, 210, null],
      duration_p99_ms: [300, 310, null],
      speed_n: counts,
      speed_p50: [50, 60, null],
    },
  }) as unknown as Overview

test('percentiles of too few calls are gaps, and say how many they need', () => {
  const latency = latencyPanel(answer([150, 30, 0]), frame)
  const shown = latency.series.map(({ key, values }) => `${key} ${JSON.stringify(values)}`)
  assert.deepEqual(shown, ['p99 [300,null,null]', 'p95 [200,210,null]', 'p50 [100,110,null]'])
  const missing = [1, 2].map((index) => latency.series[0]?.missing?.(index))
  assert.deepEqual(missing, ['needs 100 calls', null])
})

test('a few calls are shown one by one', () => {
  const dots = [[220], [400, 9010], []]
  const singles = { duration_ms: dots, ttft_ms: dots, output_tokens_per_s: dots }
  const few = { ...answer([1, 2, 0]), singles }
  for (const { series } of [latencyPanel(few, frame), speedPanel(few, frame)]) {
    assert.equal(series.map(({ words, kind }) => `${words}: ${kind}`).join(), 'Individual calls: dots')
  }
  const [series] = latencyPanel(few, frame).series
  assert.ok(series !== undefined)
  assert.deepEqual([series.values, series.dots], [[220, 9010, null], dots])
  assert.equal(figureOf(series, { first: 1, last: 1 }), '400 ms, 9.01 s')
  assert.equal(figureOf(series, { first: 0, last: 2 }), '220 ms – 9.01 s')
  assert.equal(figureOf(series, { first: 2, last: 2 }), '–')
})

test('failed calls stand on the others, and have a chart of their own', () => {
  const counts = requestPanel(answer([1, 1, 1]), frame)
  const rate = errorPanel(answer([1, 1, 1]), frame)
  const shown = counts.series.map(
    ({ key, values, standsOn }) => `${key} ${values.join()} on ${standsOn?.join()}`,
  )
  assert.deepEqual(shown, ['failed 1,0,30 on ok', 'ok 9,0,0 on '])
  assert.deepEqual(rate.series[0]?.values, [0.1, null, 1])
})
