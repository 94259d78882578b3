import assert from 'node:assert/strict'
import type { Costs, Rates } from '../../src/api/costs.ts'
import type { RepriceDay, RepriceResult } from '../../src/api/database-job.ts'
import { Times } from '../format/times.ts'
import {
  bookWords,
  consequences,
  doneWords,
  offerWords,
  priceForm,
  problemWords,
  repricedModels,
  signedDollars,
  syncFailure,
  syncWords,
  type PriceField,
} from './price-changes.ts'
import { test } from 'node:test'

type Typed = Partial<Record<PriceField, string>>

/** Returns the saved change, or its errors, for texts typed into the form. */
function saved(typed: Typed, rates: Rates | null = null, dayMs = Number.NaN) {
  const price = rates && { tiers: [{ above_input_tokens: 0, ...rates }] }
  const model = { name: 'm', upstream: 'https://a.test/v1', isOwn: false, price }
  const { fields, save } = priceForm(model, 1000, () => dayMs)
  return save((name) => typed[name] ?? fields.find((field) => field.name === name)?.value ?? '')
}

function body(typed: Typed, rates: Rates | null = null, dayMs?: number): unknown {
  return (saved(typed, rates, dayMs) as { readonly body: object }).body
}

function wrong(typed: Typed): readonly string[] {
  return Object.keys((saved(typed) as { readonly errors: object }).errors)
}

test('amounts are written with a point, and left out where nothing was written', () => {
  const rates = { input: ' 0.15', output: '$.6', cache_read: '', cache_write: '3.' }
  assert.deepEqual(body(rates), { input: 0.15, output: 0.6, cache_write: 3 })
})

test('input and output are needed, where nothing else is billed for', () => {
  assert.deepEqual(wrong({}), ['input', 'output'])
  assert.deepEqual(wrong({ input: '1' }), ['output'])
  assert.deepEqual(body({ per_search_unit: '0.002' }), { input: 0, output: 0, per_search_unit: 0.002 })
})

test('an error is told in its field', () => {
  for (const output of ['a', '-1', '1e3', '1.2.3', 'NaN', '1001', '2,500', '0,15']) {
    assert.deepEqual(wrong({ input: '1', output }), ['output'], output)
  }
  assert.deepEqual(wrong({ input: '1', output: '2', since: 'day' }), ['day'])
})

test('free is said, not left to be guessed', () => {
  assert.deepEqual(body({ billing: 'free', input: 'nonsense' }), { input: 0, output: 0 })
})

test('a price holds from now on, from a day on, or for all calls', () => {
  const rates = { input: '1', output: '2' }
  const from = (since: string): unknown => body({ ...rates, since }, null, 86_400_000)
  assert.deepEqual(from('always'), { input: 1, output: 2 })
  assert.deepEqual(from('now'), { input: 1, output: 2, effective_from: '1970-01-01T00:00:01.000Z' })
  assert.deepEqual(from('day'), { input: 1, output: 2, effective_from: '1970-01-02T00:00:00.000Z' })
})

test('a price is set for one upstream, or for its name everywhere', () => {
  const path = (scope: string): string =>
    (saved({ billing: 'free', scope }) as { readonly path: string }).path
  assert.deepEqual(['one', 'all'].map(path), ['/api/costs/overrides/a.test%2Fm', '/api/costs/overrides/m'])
})

test('a price that is changed shows what it is, and changes from now on', () => {
  const now = { effective_from: '1970-01-01T00:00:01.000Z' }
  const rates = { input: 0.15, output: 2, cache_read: 0.000_001 }
  assert.deepEqual(body({}, rates), { ...rates, ...now })
  const free = { input: 0, output: 0 }
  assert.deepEqual(body({}, free), { ...free, ...now })
})

const times = new Times(true, () => Date.UTC(2026, 10, 21))
const nowMs = Date.parse('2026-11-21T12:00:00Z')
const entry = { source: 'litellm', prices: [] }
const noChanges = { added: 0, changed: 0, removed: 0 }
const shipped: Costs = {
  version: 1,
  currency: 'USD',
  unit: 'usd_per_million_tokens',
  synced_at: null,
  source: { name: 'genai-prices 0.1.8', url: null },
  sync: { state: 'idle', started_at: null, finished_at: null, last_error: null, ...noChanges },
  problem: null,
  models: { a: entry, b: entry },
  overrides: {},
  upstreams: {},
}
const synced: Costs = {
  ...shipped,
  synced_at: '2026-11-21T09:00:00Z',
  source: { name: 'litellm', url: 'https://example.com/prices.json', entries: 2, rejected: 576 },
  sync: { ...shipped.sync, finished_at: '2026-11-21T09:00:02Z', added: 3, changed: 1 },
  overrides: { mine: entry },
}

test('beside the title: how many prices, from where, how old', () => {
  assert.equal(bookWords(shipped, nowMs), '2 prices · as shipped, never synced')
  assert.equal(bookWords(synced, nowMs), '2 prices · 1 of your own · LiteLLM, synced 3 h ago')
  assert.equal(bookWords({ ...shipped, models: {} }, nowMs), 'no price list · never synced')
})

test('what the last sync changed', () => {
  assert.equal(syncWords(shipped, times), null)
  assert.equal(
    syncWords(synced, times),
    'Last sync 21 Nov, 09:00 UTC from example.com: 3 added, 1 changed. 576 entries in the list skipped: no token price, or an implausible one.',
  )
  const same = { ...synced, source: null, sync: { ...synced.sync, added: 0, changed: 0 } }
  assert.equal(syncWords(same, times), 'Last sync 21 Nov, 09:00 UTC: no changes.')
})

test('a sync that failed says why, and which prices stay in force', () => {
  const failed = (costs: Costs): Costs => ({
    ...costs,
    sync: { ...costs.sync, last_error: 'It answered 404' },
  })
  assert.equal(
    syncFailure(failed(synced), times),
    'Price sync failed: It answered 404. Prices from 21 Nov, 09:00 UTC are unchanged.',
  )
  assert.equal(
    syncFailure(failed(shipped), times),
    'Price sync failed: It answered 404. Existing prices are unchanged.',
  )
  assert.equal(syncWords(failed(synced), times), null)
  assert.equal(syncFailure(synced, times), null)
})

test('a broken price file is told with its line and column', () => {
  assert.equal(problemWords(synced), null)
  assert.equal(
    problemWords({ ...synced, problem: { message: 'input must be a number', line: 12, column: 7 } }),
    'input must be a number. Line 12, column 7. The last valid file stays in force.',
  )
})

type Usd = number | null

function day(day: string, model: string, calls: number, before_usd: Usd, after_usd: Usd): RepriceDay {
  const newly_priced = before_usd === null ? calls : 0
  return {
    day,
    model,
    calls,
    before_usd,
    after_usd,
    newly_priced,
    newly_unpriced: after_usd === null ? calls : 0,
  }
}

function result(days: readonly RepriceDay[]): RepriceResult {
  const sum = (of: (one: RepriceDay) => number): number => days.reduce((all, one) => all + of(one), 0)
  return {
    days,
    calls: sum(({ calls }) => calls),
    newly_priced: sum(({ newly_priced: calls }) => calls),
    newly_unpriced: sum(({ newly_unpriced: calls }) => calls),
    before_usd: sum(({ before_usd: usd }) => usd ?? 0),
    after_usd: sum(({ after_usd: usd }) => usd ?? 0),
    looked_calls: 5000,
    reported_calls: 0,
    duration_ms: 12,
  }
}

const days = [
  day('2026-11-21', 'fresh', 1000, null, 2),
  day('2026-11-12', 'fresh', 204, null, 1.1),
  day('2026-11-20', 'dearer', 7, 4, 9),
  day('2026-11-01', 'gone', 2, 1, null),
]
const dayWords = (name: string): string => name.slice(8)

test('days are put together by model, in their order, the largest difference first', () => {
  const shown = repricedModels(days).map(({ model, calls, before_usd, after_usd, days: own }) =>
    [model, calls, before_usd ?? '-', after_usd ?? '-', ...own.map((one) => dayWords(one.day))].join(' '),
  )
  assert.deepEqual(shown, ['dearer 7 4 9 20', 'fresh 1204 - 3.1 12 21', 'gone 2 1 - 01'])
})

test('what can be priced now is offered with its days and its sum, and nothing where there is nothing', () => {
  assert.equal(offerWords(result(days), dayWords), '1,204 calls from 12 to 21 can now be priced: $3.10.')
  assert.equal(
    offerWords(result(days.slice(2)), dayWords),
    'At current prices, the cost of 9 calls in this range would change by +$4.00.',
  )
  assert.equal(offerWords(result([]), dayWords), null)
  assert.equal(offerWords(result(days.slice(0, 1)), dayWords), '1,000 calls on 21 can now be priced: $2.00.')
})

test('what applying it means is said before, each thing that it does', () => {
  assert.deepEqual(consequences(result(days)).slice(0, -2), [
    '1,204 calls without a cost will get one.',
    'The cost of 7 calls will be replaced; old costs are not kept.',
    '2 calls will lose their cost: the price is gone.',
  ])
  assert.equal(consequences(result(days.slice(0, 2))).length, 3)
})

test('what came of it', () => {
  assert.equal(doneWords(result(days.slice(0, 2))), '1,204 calls recalculated: +$3.10.')
  assert.equal(doneWords(result([])), 'Nothing to change.')
  assert.deepEqual([3.1, -0.42, 0].map(signedDollars), ['+$3.10', '−$0.42', '±$0'])
})
