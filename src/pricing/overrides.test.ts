import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleCosts } from '../../test/pricing/sample-costs.ts'
import { JsonValueError } from '../options/schema.ts'
import type { ModelCosts } from './model-costs.ts'
import { withOverride, withoutOverride } from './overrides.ts'
import { priceFileText } from './price-file.ts'
import { readModelCosts } from './read-model-costs.ts'

const now = '2026-11-21T12:00:00.000Z'

function set(costs: ModelCosts, name: string, body: unknown): ModelCosts {
  return withOverride(costs, name, body, now).costs
}

test('a price of one’s own is written as the file has it, and is sound', () => {
  const costs = set(sampleCosts, 'my-model', {
    input: 0.15,
    output: '0.6',
    cache_read: 0.07500000001,
    per_request: 0.01,
  })
  assert.deepEqual(costs.overrides, {
    'my-model': {
      source: 'user',
      updated_at: now,
      prices: [
        {
          effective_from: null,
          tiers: [{ above_input_tokens: 0, input: 0.15, output: 0.6, cache_read: 0.075, per_request: 0.01 }],
        },
      ],
    },
  })
  assert.deepEqual(readModelCosts(priceFileText(costs)), { costs })
  assert.equal(costs.models, sampleCosts.models)
  assert.deepEqual(sampleCosts.overrides, {})
})

test('free is a price that has to be said, and a fee needs no rates', () => {
  const free = set(sampleCosts, 'a', { input: 0, output: 0 }).overrides['a']
  assert.deepEqual(free?.prices[0]?.tiers, [{ above_input_tokens: 0, input: 0, output: 0 }])
  const fee = set(sampleCosts, 'a', { per_search_unit: 0.002 }).overrides['a']
  assert.deepEqual(fee?.prices[0]?.tiers, [
    { above_input_tokens: 0, per_search_unit: 0.002, input: 0, output: 0 },
  ])
})

test('with a day it is a price among others; without one it is the only one', () => {
  let costs = set(sampleCosts, 'a', { input: 1, output: 1 })
  costs = set(costs, 'A', { input: 3, output: 3, effective_from: '2026-12-01' })
  costs = set(costs, 'a', { input: 2, output: 2, effective_from: '2026-11-01' })
  costs = set(costs, 'a', { input: 4, output: 4, effective_from: '2026-12-01T00:00:00Z' })
  const dates = (): unknown =>
    costs.overrides['a']?.prices.map((period) => [period.effective_from, period.tiers[0]?.input])
  assert.deepEqual(Object.keys(costs.overrides), ['a'])
  assert.deepEqual(dates(), [
    [null, 1],
    ['2026-11-01', 2],
    ['2026-12-01T00:00:00Z', 4],
  ])
  costs = set(costs, 'a', { input: 5, output: 5 })
  assert.deepEqual(dates(), [[null, 5]])
})

test('a remark stays with its entry', () => {
  const entry = { _why: 'the contract', mode: 'chat', source: 'user', prices: [] }
  const costs = set({ ...sampleCosts, overrides: { a: entry } }, 'A', { input: 1, output: 1 })
  assert.deepEqual(costs.overrides['a'], { ...entry, updated_at: now, prices: costs.overrides['a']?.prices })
})

const wrong: readonly (readonly [unknown, string, RegExp])[] = [
  [null, 'body', /a JSON object; it is null/],
  [[], 'body', /a JSON object; it is an empty list/],
  [{}, 'input', /given.*; it is missing/],
  [{ input: 1 }, 'output', /given/],
  [{ input: 1, output: null }, 'output', /a number from 0 to 1,000 \(USD per million tokens\); it is null/],
  [{ input: -1, output: 1 }, 'input', /a number from 0.*; it is -1/],
  [{ input: 1, output: 1001 }, 'output', /a number from 0.*; it is 1001/],
  [{ input: NaN, output: 1 }, 'input', /a number from 0.*; it is NaN/],
  [{ input: 'free', output: 1 }, 'input', /a number from 0.*; it is "free"/],
  [{ input: 1, output: 1, cache_raed: 1 }, 'cache_raed', /unknown here; known are input, output, cache_read/],
  [{ input: 1, output: 1, per_request: 5000 }, 'per_request', /\(USD each\); it is 5000/],
  [{ input: 1, output: 1, effective_from: 'soon' }, 'effective_from', /a day such as.*; it is "soon"/],
  [{ input: 1, output: 1, effective_from: 5 }, 'effective_from', /a day such as.*; it is 5/],
]

for (const [body, param, flaw] of wrong) {
  test(`tells of ${JSON.stringify(body)}, by name`, () => {
    assert.throws(
      () => withOverride(sampleCosts, 'a', body, now),
      (error) => {
        assert.ok(error instanceof JsonValueError)
        assert.deepEqual(error.path, [param])
        assert.match(error.flaw, flaw)
        return true
      },
    )
  })
}

test('a name has to be one', () => {
  for (const name of ['', '  ', 'a\nb', 'x'.repeat(513)]) {
    const set = (): unknown => withOverride(sampleCosts, name, { input: 1, output: 1 }, now)
    assert.throws(set, { path: ['name'], flaw: /^must be a model, or host\/model; it is / }, name)
  }
  assert.ok(Object.hasOwn(set(sampleCosts, '__proto__', { input: 1, output: 1 }).overrides, '__proto__'))
})

test('takes one away, whatever its case, and says where there is none', () => {
  const costs = set(sampleCosts, '127.0.0.1:8080/Qwen', { input: 1, output: 1 })
  assert.deepEqual(withoutOverride(costs, '127.0.0.1:8080/qwen'), sampleCosts)
  assert.equal(withoutOverride(costs, 'qwen'), null)
})
