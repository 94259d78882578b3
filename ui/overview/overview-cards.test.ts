import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overview, OverviewMeasure, OverviewTotals } from '../../src/api/overview.ts'
import {
  type AlertRules,
  type OverviewCard,
  measureWords,
  overviewCards,
  rateWords,
} from './overview-cards.ts'

const measure = (n: number, p50: number, p95: number): OverviewMeasure => ({
  n,
  p50,
  p95,
  p99: p95,
  max: p95 * 2,
})
const none: OverviewMeasure = { n: 0, p50: null, p95: null, p99: null, max: null }
const totals: OverviewTotals = {
  calls: 5788,
  errors: 127,
  error_rate: 0.0219,
  input_tokens: 9_000_000,
  output_tokens: 1_600_000,
  cached_input_tokens: 0,
  cached_share: 0,
  cache_saved_usd: 0,
  cost_usd: 18.06,
  unpriced_calls: 106,
  no_usage_calls: 0,
  duration_ms: measure(4000, 4890, 11_200),
  ttft_ms: measure(3000, 405, 994),
  ttft_total_ms: measure(3000, 612, 1840),
  queue_ms: measure(4000, 0.01, 800),
  output_tokens_per_s: measure(2900, 63, 90),
}
const empty = { calls: [], error_rate: [], cost_usd: [], duration_p95_ms: [], ttft_p95_ms: [], speed_p50: [] }

const day = {
  from: '2026-11-20T12:00:00.000Z',
  to: '2026-11-21T12:00:00.000Z',
  recorded_from: '2026-11-01T12:00:00.000Z',
  slots: { gaps: [] as { from_s: number; to_s: number }[] },
}

function cards(
  now: OverviewTotals,
  previous: OverviewTotals | null,
  slowest: unknown[] = [],
): readonly OverviewCard[] {
  const answer = { ...day, totals: now, previous, buckets: empty, slowest, chat_only: true }
  return overviewCards(answer as unknown as Overview)
}

test('a figure has a colour by the thresholds of the alerts, of enough calls', () => {
  const rules = {
    error_ratio: { on: true, threshold: 20 },
    slow_first_token: { on: true, threshold: 2 },
    spend_day: { on: true, threshold: 50 },
  }
  const tones = (
    now: Partial<OverviewTotals>,
    before: Partial<OverviewTotals>,
    on: AlertRules = rules,
  ): unknown[] => {
    const previous = { ...totals, ...before }
    const answer = { ...day, totals: { ...totals, ...now }, previous, buckets: empty, slowest: [] }
    return overviewCards(answer as unknown as Overview, on)
      .filter(({ tone }) => tone !== undefined)
      .map(({ words, tone }) => `${words}: ${tone}`)
  }
  const ttft = (n: number, p50: number, p95: number) => ({ ttft_ms: measure(n, p50, p95) })
  const off: AlertRules = { error_ratio: { on: false, threshold: 20 } }
  const cases: readonly (readonly [Partial<OverviewTotals>, Partial<OverviewTotals>, string, AlertRules?])[] =
    [
      [{}, {}, ''],
      [{ error_rate: 0.199, errors: 1000 }, {}, ''],
      [{ error_rate: 0.2, errors: 1000 }, {}, 'Error rate: bad'],
      [{ error_rate: 0.2, errors: 1000 }, {}, '', off],
      // Of 30 calls the clients of 11 left, so that 19 count.
      [{ error_rate: 1, errors: 19, calls: 30 }, {}, ''],
      [ttft(3000, 400, 2400), ttft(3000, 400, 1000), 'First token p95: warn'],
      [ttft(3000, 400, 2400), ttft(99, 400, 1000), ''],
      [ttft(3000, 40, 240), ttft(3000, 40, 100), ''],
      [{ cost_usd: 50 }, {}, 'Cost: warn'],
    ]
  for (const [now, before, words, on] of cases) assert.equal(tones(now, before, on).join(), words)
  assert.ok(cards({ ...totals, error_rate: 1 }, null).every(({ tone }) => tone === undefined))
})

test('each card has its figure with its unit, one fact, and what it was', () => {
  const was = { ...totals, error_rate: 0.0095, duration_ms: measure(4000, 4000, 9640) }
  assert.deepEqual(
    cards(totals, was).map(({ words, value, fact, change }) => [words, value, fact, change?.was]),
    [
      ['Requests', '5,788', '4 per min', '5,788'],
      ['Error rate', '2.2%', '127 failed', '0.95%'],
      ['Latency p95', '11.2 s', 'p50 4.89 s', '9.64 s'],
      ['First token p95', '994 ms', 'with queue 1.84 s', '994 ms'],
      ['Output speed', '63', '1,600,000 tokens out', '63'],
      ['Cached input', '0%', '', '0%'],
      ['Cost', '$18.06', '+ 106 unpriced', '$18.06'],
    ],
  )
})

test('more requests and more cost are neither good nor bad; more errors are', () => {
  const was = { ...totals, calls: 1000, error_rate: 0.01, cost_usd: 1 }
  const tones = cards(totals, was).map(({ change }) => change?.tone)
  assert.equal(tones.join(' '), 'plain worse plain plain plain plain plain')
})

test('no calls of a kind are a dash, and never 0', () => {
  const quiet = {
    ...totals,
    error_rate: null,
    cached_share: null,
    cost_usd: null,
    unpriced_calls: 0,
    duration_ms: none,
    ttft_ms: none,
    ttft_total_ms: none,
    output_tokens_per_s: none,
  }
  assert.equal(
    cards(quiet, null)
      .map(({ value }) => value)
      .join(' '),
    '5,788 – – – – – –',
  )
})

test('what the caches saved is told, and what they cost more than they saved', () => {
  const factOf = (usd: number | null): string | undefined =>
    cards({ ...totals, cached_share: 0.76, cache_saved_usd: usd }, null).find(
      ({ words }) => words === 'Cached input',
    )?.fact
  assert.deepEqual([1.239, -0.5, 0, null].map(factOf), ['$1.24 saved', '$0.50 lost', '', ''])
})

test('three calls are told as they are', () => {
  const few = {
    ...totals,
    duration_ms: measure(3, 900, 2100),
    ttft_ms: measure(1, 210, 210),
    ttft_total_ms: measure(1, 230, 230),
  }
  const slowest = [
    { duration_ms: 2100, ttft_ms: null, ttft_total_ms: null },
    { duration_ms: 900, ttft_ms: 210, ttft_total_ms: 230 },
    { duration_ms: 800, ttft_ms: null, ttft_total_ms: null },
  ]
  const [, , latency, firstToken] = cards(few, totals, slowest)
  assert.deepEqual(
    [latency, firstToken].map((card) => [card?.words, card?.value, card?.fact, card?.change]),
    [
      ['Latency', '0.80–2.10 s', '3 calls', null],
      ['First token', '210 ms', 'with queue 230 ms', null],
    ],
  )
})

test('few calls say what they have', () => {
  const cases: readonly (readonly [OverviewMeasure, slowest: number[], value: string, fact: string])[] = [
    [measure(20, 100, 300), [], '300 ms', 'p50 100 ms'],
    [measure(3, 100, 300), [90, 1000, 100], '0.09–1.00 s', '3 calls'],
    [measure(2, 45_000, 123_000), [45_000, 123_000], '45.0 s–2 min 3 s', '2 calls'],
    [measure(19, 100, 300), [90], '100 ms', 'median of 19 calls'],
    [measure(4, 100, 300), [], '≤ 600 ms', '4 calls'],
    [none, [], '–', 'no calls'],
  ]
  for (const [one, slowest, value, fact] of cases)
    assert.deepEqual(measureWords(one, slowest), { value, fact })
})

test('each card leads to the calls that it is of', () => {
  const [, errors, latency] = cards(totals, null)
  assert.deepEqual(errors?.to, { view: 'calls', sort: 'started_at', errorsOnly: true })
  assert.deepEqual(latency?.to, { view: 'calls', sort: 'duration', outcomes: ['ok'], callTypes: ['chat'] })
})

test('a rate in the first unit that has a whole call, and is no longer than the range', () => {
  assert.equal(rateWords(5788, 86_400_000), '4 per min')
  assert.equal(rateWords(30, 86_400_000), '1.3 per hour')
  assert.equal(rateWords(3, 7 * 86_400_000), '0.43 per day')
  assert.equal(rateWords(3, 6 * 3_600_000), '0.5 per hour')
  assert.equal(rateWords(0, 1), 'no calls')
})
