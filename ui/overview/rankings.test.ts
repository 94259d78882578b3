import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OverviewModel } from '../../src/api/overview.ts'
import { failedRows, modelRows, usualMeasure } from './rankings.ts'

const model = (name: string | null, rest: Partial<OverviewModel>): OverviewModel => ({
  model: name,
  calls: 10,
  errors: 0,
  total_tokens: 100,
  cached_share: null,
  cost_usd: null,
  unpriced_calls: 0,
  ...rest,
})
const models = [
  model('many', { calls: 90, cost_usd: 1 }),
  model('free', { calls: 50, cost_usd: 0 }),
  model('unpriced', { unpriced_calls: 10, total_tokens: 900 }),
  model('dear', { cost_usd: 9, unpriced_calls: 3 }),
  model(null, {}),
]

const totals = { calls: 180, cost_usd: 10, input_tokens: 1000, output_tokens: 300 }

test('by cost: the dearest first; without a price is not for free, and without usage not without a price', () => {
  const rows = modelRows(models, 'cost', totals)
  assert.equal(
    rows.map(({ words, figure, note = '' }) => `${words}: ${figure} ${note}`).join('; '),
    'dear: $9.00 + 3 unpriced; many: $1.00 ; free: $0 ; unpriced: no price 10 calls; No model: – 10 calls',
  )
  assert.deepEqual(rows[0]?.to, { view: 'calls', models: ['dear'], sort: 'started_at' })
  assert.equal(rows[4]?.to, null)
})

test('by tokens and by calls', () => {
  assert.equal(modelRows(models, 'tokens', totals)[0]?.words, 'unpriced')
  assert.equal(modelRows(models, 'calls', totals)[0]?.words, 'many')
})

test('cost is compared where there is any', () => {
  assert.equal(usualMeasure(models), 'cost')
  assert.equal(usualMeasure([model('a', {})]), 'tokens')
  const told = [model('a', { total_tokens: 0 })]
  assert.equal(usualMeasure(told), 'calls')
  assert.deepEqual(modelRows(told, 'tokens', totals), [])
})

test('failures lead to their calls; those without a code are the interrupted', () => {
  const failures = [
    { key: 'upstream_http', calls: 3 },
    { key: null, calls: 1 },
  ]
  const rows = failedRows(failures, 4, 'failure_code')
  const shown = rows.map(({ words, figure, note }) => `${words} ${figure} ${note}`)
  assert.deepEqual(shown, ['Upstream error 3 75%', 'Interrupted 1 25%'])
  assert.deepEqual(rows[0]?.to, { view: 'calls', failureCodes: ['upstream_http'], sort: 'started_at' })
  assert.deepEqual(rows[1]?.to, { view: 'calls', outcomes: ['interrupted'], sort: 'started_at' })
})

test('by what was cached: no model without usage, and 0% is a figure', () => {
  const models = [
    model('none', { cached_share: 0 }),
    model('unknown', {}),
    model('most', { cached_share: 0.875 }),
  ]
  const rows = modelRows(models, 'cached', totals)
  assert.equal(rows.map(({ words, figure }) => [words, figure]).join(' '), 'most,87.5% none,0%')
})

test('failed calls by what they have in common: the most first, each the way to its failed calls', () => {
  const groups = [
    { key: 500, calls: 2 },
    { key: 429, calls: 6 },
    { key: null, calls: 2 },
  ]
  const rows = failedRows(groups, 10, 'status')
  const shown = rows.map(({ words, note, to }) =>
    [words, note, to?.statuses?.join(), to?.errorsOnly].join(' '),
  )
  const expected = ['429 60% 429 true', '500 20% 500 true', 'No answer 20%  ']
  assert.deepEqual(shown, expected)
  const [first] = failedRows([{ key: 'claude', calls: 1 }], 1, 'upstream_name')
  assert.deepEqual(first?.to?.upstreams, ['claude'])
  assert.equal(failedRows([{ key: null, calls: 1 }], 1, 'upstream_name')[0]?.words, 'Default upstream')
})

test('what a list has no room for is one row, so that nothing is missing', () => {
  const many = Array.from({ length: 10 }, (_, at) => model(`m${at}`, { calls: 100 - at, cost_usd: 20 - at }))
  const all = { calls: 1500, cost_usd: 170, input_tokens: 0, output_tokens: 0 }
  const last = modelRows(many, 'cost', all).at(-1)
  assert.partialDeepStrictEqual(last, {
    words: 'Others',
    figure: '$38.00',
    to: { view: 'compare', order: 'cost' },
  })
  const failures = many.map(({ model: code, calls }) => ({ key: code, calls }))
  const rows = failedRows(failures, 1000, 'failure_code')
  assert.equal(rows.length, 9)
  assert.equal(
    rows.reduce((sum, { value }) => sum + (value ?? 0), 0),
    1000,
  )
})
