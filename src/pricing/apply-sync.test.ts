import assert from 'node:assert/strict'
import { test } from 'node:test'
import { litellmList } from '../../test/pricing/litellm-list.ts'
import { entryOf, rates, sampleCosts } from '../../test/pricing/sample-costs.ts'
import { applySync, type SyncOutcome } from './apply-sync.ts'
import { fromLiteLlm } from './litellm-adapter.ts'
import { type ModelCosts, noPrices } from './model-costs.ts'
import { type ListedPrice, type PriceList, PriceListError } from './price-list.ts'
import { priceFileText } from './price-file.ts'
import { readModelCosts } from './read-model-costs.ts'

const source = { name: 'litellm', url: 'http://127.0.0.1/list.json' }
const first = '2026-11-21T04:00:00Z'
const second = '2026-11-22T04:00:00Z'

function listOf(models: Readonly<Record<string, ListedPrice>>): PriceList {
  return { models: new Map(Object.entries(models)), rejected: [] }
}

function priced(input: number, output = input * 4): ListedPrice {
  return { provider: 'openai', mode: 'chat', tiers: [rates({ input, output })] }
}

function synced(costs: ModelCosts, list: PriceList, now: string, from = source): SyncOutcome {
  return applySync(costs, list, from, now)
}

function refusal(costs: ModelCosts, list: PriceList): string {
  try {
    applySync(costs, list, source, second)
  } catch (error) {
    assert.ok(error instanceof PriceListError)
    return error.message
  }
  return assert.fail('it was taken')
}

test('a first sync adds all, from the beginning', () => {
  const { costs, added, changed, removed } = synced(noPrices, listOf({ b: priced(1), a: priced(2) }), first)
  assert.deepEqual([added, changed, removed], [2, 0, 0])
  assert.deepEqual(Object.keys(costs.models), ['a', 'b'])
  assert.deepEqual(costs.models['a'], {
    provider: 'openai',
    mode: 'chat',
    source: 'litellm',
    updated_at: first,
    prices: [{ effective_from: null, tiers: [{ above_input_tokens: 0, input: 2, output: 8 }] }],
  })
  assert.equal(costs.synced_at, first)
  assert.deepEqual(costs.source, { ...source, entries: 2, rejected: 0 })
})

test('a price that is another holds from now on; one that is the same stays as it is', () => {
  const before = synced(noPrices, listOf({ a: priced(1), b: priced(2) }), first).costs
  const { costs, added, changed } = synced(before, listOf({ a: priced(1), b: priced(3) }), second)
  assert.deepEqual([added, changed], [0, 1])
  assert.deepEqual(costs.models['a']?.prices, before.models['a']?.prices)
  assert.deepEqual(costs.models['b']?.prices, [
    { effective_from: null, tiers: [rates({ input: 2, output: 8 })] },
    { effective_from: second, tiers: [rates({ input: 3, output: 12 })] },
  ])
  assert.equal(costs.models['a']?.updated_at, second)
})

test('the order of tiers and rates is no change, nor is what is said by leaving it out', () => {
  const tiers = [rates({ input: 1, output: 2 }), { above_input_tokens: 9, input: 2, inclusive: false }]
  const other = [
    { above_input_tokens: 9, input: 2 },
    { output: 2, above_input_tokens: 0, input: 1 },
  ]
  const before = synced(noPrices, listOf({ a: { ...priced(1), tiers } }), first).costs
  assert.equal(synced(before, listOf({ a: { ...priced(1), tiers: other } }), second).changed, 0)
  const special = { ...priced(1), tiers, service_tiers: { flex: [rates({ input: 0.5 })] } }
  assert.equal(synced(before, listOf({ a: special }), second).changed, 1)
})

test('another list that disagrees is no change of price: what it says takes the place of what held', () => {
  const source = 'genai-prices 0.1.8'
  const prices = [null, '2026-06-01', '2027-01-01'].map((effective_from, at) => ({
    effective_from,
    tiers: [rates({ input: at + 1 })],
  }))
  const gone = { ...entryOf('openai', rates({ input: 1 })), source }
  const before: ModelCosts = { ...noPrices, models: { a: { ...entryOf('openai'), source, prices }, gone } }
  const { costs, added, changed, removed } = synced(before, listOf({ a: priced(5) }), first)
  assert.deepEqual([added, changed, removed], [0, 0, 0])
  assert.deepEqual(costs.models['a']?.prices, [
    { effective_from: null, tiers: [rates({ input: 1 })], source },
    { effective_from: '2026-06-01', tiers: [rates({ input: 5, output: 20 })] },
  ])
  assert.equal(costs.models['a']?.source, 'litellm')
  assert.deepEqual(costs.models['gone'], gone)
})

test('what the list has no more keeps its last price, and is told once', () => {
  const all = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`m${i}`, priced(i + 1)]))
  const before = synced(noPrices, listOf(all), first).costs
  const { m0: _gone, ...rest } = all
  const after = synced(before, listOf(rest), second)
  assert.equal(after.removed, 1)
  assert.deepEqual(after.costs.models['m0'], { ...before.models['m0'], removed_at: second })
  const again = synced(after.costs, listOf(rest), '2026-11-23T04:00:00Z')
  assert.equal(again.removed, 0)
  assert.equal(again.costs.models['m0']?.removed_at, second)
  const back = synced(again.costs, listOf(all), '2026-11-24T04:00:00Z')
  assert.deepEqual([back.added, back.changed, back.removed], [0, 0, 0])
  assert.ok(!('removed_at' in (back.costs.models['m0'] ?? {})))
})

test('what the list gets wrong for once is not gone', () => {
  const good = { a: priced(1), b: priced(2), c: priced(3) }
  const before = synced(noPrices, listOf({ ...good, d: priced(4) }), first).costs
  const list = { ...listOf(good), rejected: [{ name: 'd', reason: 'bad_number' as const }] }
  const { costs, removed, rejected } = synced(before, list, second)
  assert.deepEqual([removed, rejected], [0, 1])
  assert.deepEqual(costs.models['d'], before.models['d'])
})

test('overrides and upstreams are left alone', () => {
  const before: ModelCosts = {
    ...noPrices,
    overrides: { a: { source: 'user', prices: [{ effective_from: null, tiers: [rates({ input: 0 })] }] } },
    upstreams: { 'a.b': { prefix: '', provider: 'x' } },
  }
  const { costs } = synced(before, listOf({ a: priced(1) }), first)
  assert.equal(costs.overrides, before.overrides)
  assert.equal(costs.upstreams, before.upstreams)
})

test('half a list, an empty one, and one in another unit are refused', () => {
  const all = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, priced((i + 1) / 100)]))
  const before = synced(noPrices, listOf(all), first).costs
  const part = (count: number): PriceList => listOf(Object.fromEntries(Object.entries(all).slice(0, count)))
  assert.match(
    refusal(before, part(69)),
    /^The list has 69 prices; it had 100\. The prices were left as they are\.$/,
  )
  assert.equal(synced(before, part(70), second).removed, 30)
  assert.match(refusal(before, listOf({})), /no price/)
  const dearer = Object.fromEntries(
    Object.entries(all).map(([name, { tiers }]) => [name, priced((tiers[0]?.input ?? 0) * 11)]),
  )
  const unlike = /100 of 100 known prices would be more than 10 times as high or as low/
  assert.match(refusal(before, listOf(dearer)), unlike)
  const rejected = Array.from({ length: 60 }, (_, i) => ({ name: `x${i}`, reason: 'bad_number' as const }))
  assert.match(
    refusal(before, { ...listOf(all), rejected }),
    /60 of 160 prices in the list are out of bounds/,
  )
})

test('LiteLLM’s list that is 100,000 times too dear is refused, also by a book that never saw another', () => {
  const times = (_: string, value: unknown): unknown => (typeof value === 'number' ? value * 1e5 : value)
  const list = fromLiteLlm(JSON.parse(JSON.stringify(litellmList(3000, 7), times)))
  assert.ok(list !== null && list.models.size > 0)
  assert.throws(() => applySync(noPrices, list, source, first), PriceListError)
})

test('3,000 entries become a sound file, and the same list again changes nothing in it but its dates', () => {
  const list = fromLiteLlm(litellmList(3000, 7))
  assert.ok(list !== null)
  const once = synced(sampleCosts, list, first).costs
  const reading = readModelCosts(priceFileText(once))
  assert.ok('costs' in reading, JSON.stringify(reading))
  assert.deepEqual(reading.costs, once)
  const twice = synced(reading.costs, list, second)
  assert.deepEqual([twice.added, twice.changed, twice.removed], [0, 0, 0])
  for (const [name, { prices }] of Object.entries(once.models)) {
    assert.deepEqual(twice.costs.models[name]?.prices, prices)
  }
})
