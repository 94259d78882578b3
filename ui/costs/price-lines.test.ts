import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CostMatch, MatchedPrice } from '../../src/api/costs.ts'
import { hostOf, knownPrices, listedMatches, overrideName, priceableCalls } from './price-lines.ts'

const tiers = [{ above_input_tokens: 0, input: 1, output: 2 }]

function match(model: string, price: MatchedPrice, rest: Partial<CostMatch> = {}): CostMatch {
  const figures = { calls: 3, unpriced_calls: 0, input_tokens: 1, output_tokens: 1, cost_usd: 1 }
  return { upstream: 'api.openai.com', model, response_model: null, ...figures, price, ...rest }
}

function priced(key: string, from: string | null = null): MatchedPrice {
  return { key, source: 'litellm', effective_from: from, updated_at: null, tiers }
}

test('first what keeps calls from being priced, then what would keep the next ones, then the dearest', () => {
  const matches = [
    match('cheap', priced('cheap')),
    match('dear', priced('dear'), { cost_usd: 9 }),
    match('gone', { none: 'no_entry' }, { cost_usd: 4 }),
    match('local', { none: 'local' }, { cost_usd: null, unpriced_calls: 3 }),
  ]
  assert.deepEqual(
    listedMatches(matches, [], '').map(({ model }) => model),
    ['local', 'gone', 'dear', 'cheap'],
  )
  assert.deepEqual(
    listedMatches(matches, ['dear', 'gone'], '').map(({ model }) => model),
    ['gone', 'dear'],
  )
})

test('a search looks at the model, who answered, the upstream and the key', () => {
  const matches = [
    match('a', priced('gemini/alpha')),
    match('b', { none: 'local' }, { upstream: 'llama:8080' }),
    match('c', priced('c'), { response_model: 'c-2026' }),
  ]
  const found = (search: string): readonly (string | null)[] =>
    listedMatches(matches, [], search).map(({ model }) => model)
  assert.deepEqual([found('GEMINI/'), found('llama'), found('2026'), found('zzz')], [['a'], ['b'], ['c'], []])
})

test('calls can be priced where a price is there that held when they were made', () => {
  const fromMs = Date.parse('2026-11-20T00:00:00Z')
  const bare = { cost_usd: null, unpriced_calls: 3 }
  const matches = [
    match('a', priced('a'), bare),
    match('b', priced('b', '2026-11-19T00:00:00Z'), bare),
    match('late', priced('late', '2026-11-21T00:00:00Z'), bare),
    match('local', { none: 'local' }, bare),
  ]
  assert.equal(priceableCalls(matches, fromMs), 6)
})

test('one’s own prices come first among all that are known', () => {
  const entry = { source: 'litellm', prices: [] }
  const costs = { models: { 'gpt-b': entry, 'gpt-a': entry, other: entry }, overrides: { 'gpt-z': entry } }
  assert.deepEqual(
    knownPrices(costs, 'GPT').map(({ name, isOverride }) => [name, isOverride]),
    [
      ['gpt-z', true],
      ['gpt-a', false],
      ['gpt-b', false],
    ],
  )
})

test('a price is kept for one upstream, or for all of that name', () => {
  const of = { upstream: '127.0.0.1:8080', model: 'qwen3:8b' }
  assert.equal(overrideName(of, false), '127.0.0.1:8080/qwen3:8b')
  assert.equal(overrideName(of, true), 'qwen3:8b')
  assert.equal(overrideName({ ...of, upstream: null }, false), 'qwen3:8b')
  assert.equal(hostOf('https://api.openai.com/v1'), 'api.openai.com')
})
