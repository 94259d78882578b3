import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleCosts } from '../../test/pricing/sample-costs.ts'
import type { ModelCosts } from './model-costs.ts'
import { withOverride } from './overrides.ts'

const now = '2026-11-21T12:00:00.000Z'

function set(costs: ModelCosts, name: string, body: unknown): ModelCosts {
  return withOverride(costs, name, body, now).costs
}

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

test('a name has to be one', () => {
  for (const name of ['', '  ', 'a\nb', 'x'.repeat(513)]) {
    const set = (): unknown => withOverride(sampleCosts, name, { input: 1, output: 1 }, now)
    assert.throws(set, { path: ['name'], flaw: /^must be a model, or host\/model; it is / }, name)
  }
  assert.ok(Object.hasOwn(set(sampleCosts, '__proto__', { input: 1, output: 1 }).overrides, '__proto__'))
})
