import assert from 'node:assert/strict'
import type { CostMatch, MatchedPrice } from '../../src/api/costs.ts'
import { agoWords, sourceDate, sourceWords } from '../data/price-source.ts'
import { Times } from '../format/times.ts'
import {
  hostOf,
  isFree,
  knownLines,
  listedMatches,
  overrideName,
  periodAt,
  priceableCalls,
  rate,
  tierWords,
  whyWords,
} from './prices.ts'
import { test } from 'node:test'
import { fieldsOf } from '../../test/support/fields-of.ts'

test('rates are told as a price list has them', () => {
  const rates = [0, 0.15, 2, 12.5, 0.125, 0.0375, 600, 0.000_002_5].map(rate)
  assert.equal(rates.join(' '), '$0 $0.15 $2.00 $12.50 $0.125 $0.0375 $600.00 $0.0000025')
})

test('tiers say from which length on they are', () => {
  const tiers = [{ above_input_tokens: 0 }, { above_input_tokens: 200_000 }, { above_input_tokens: 271_999 }]
  assert.deepEqual(
    tiers.map((_, at) => tierWords(tiers, at)),
    ['Up to 200,000 tokens in', 'Above 200,000 tokens in', 'Above 271,999 tokens in'],
  )
  const inclusive = [{ above_input_tokens: 0 }, { above_input_tokens: 128_000, inclusive: true }]
  assert.deepEqual(
    inclusive.map((_, at) => tierWords(inclusive, at)),
    ['Below 128,000 tokens in', 'From 128,000 tokens in'],
  )
  assert.equal(tierWords([{ above_input_tokens: 0 }], 0), 'Any length')
})

test('free is a price of nothing, and nothing known is none', () => {
  assert.equal(isFree([{ above_input_tokens: 0, input: 0, output: 0 }]), true)
  assert.equal(isFree([{ above_input_tokens: 0, input: 0, per_request: 0.01 }]), false)
  assert.equal(isFree([]), false)
})

test('of several prices the last one that has begun is in force, in whatever order they stand', () => {
  const tiers = [{ above_input_tokens: 0, input: 1 }]
  const prices = [
    { effective_from: '2026-11-01T00:00:00Z', tiers },
    { effective_from: null, tiers },
    { effective_from: '2027-01-01T00:00:00Z', tiers },
  ]
  const entry = { source: 'user', prices }
  assert.equal(periodAt(entry, Date.parse('2026-11-21T00:00:00Z')), prices[0])
  assert.equal(periodAt(entry, 0), prices[1])
  assert.equal(periodAt({ source: 'user', prices: prices.slice(2) }, 0), null)
})

const times = new Times(true, () => Date.UTC(2026, 10, 21))
const nowMs = Date.parse('2026-11-21T12:00:00Z')

test('a source says who it is, and how old what it says is', () => {
  const told = (source: string, at: string | null): readonly string[] => [
    sourceWords(source),
    sourceDate(source, at, times, nowMs),
  ]
  assert.deepEqual(told('litellm', '2026-11-21T08:30:00Z'), ['LiteLLM', 'synced 3 h ago'])
  assert.deepEqual(told('user', '2026-11-12T08:30:00Z'), ['Set by you', 'on 12 Nov'])
  assert.deepEqual(told('genai-prices 0.1.8', '2026-09-23T10:00:00Z'), [
    'Shipped with tokenweir',
    'prices of 23 Sept',
  ])
  assert.deepEqual(told('upstream', null), ['Reported by the upstream', ''])
  assert.deepEqual(
    [59, 60, 3700, 90_000, 900_000].map((s) => agoWords(nowMs - s * 1000, nowMs)),
    ['just now', '1 min ago', '1 h ago', '1 d ago', '10 d ago'],
  )
})

test('beside money it is never said that nothing was known', () => {
  for (const none of ['no_entry', 'unknown_upstream', 'local', 'no_model'] as const) {
    assert.match(whyWords(none, true), /: the upstream reported these costs, or the price was removed\.$/)
    assert.notEqual(whyWords(none, false), whyWords(none, true))
  }
})

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
  assert.deepEqual(fieldsOf(listedMatches(matches, [], ''), 'model'), ['local', 'gone', 'dear', 'cheap'])
  assert.deepEqual(fieldsOf(listedMatches(matches, ['dear', 'gone'], ''), 'model'), ['gone', 'dear'])
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
    knownLines(costs, 'GPT', { times, nowMs }).map(({ name, priced }) => [name, priced?.isOwn ?? false]),
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
