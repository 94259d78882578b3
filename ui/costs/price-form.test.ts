import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rates } from '../../src/api/costs.ts'
import { type PriceField, priceForm } from './price-form.ts'

type Typed = Partial<Record<PriceField, string>>

/** What saving sends, or its errors, where these texts are typed into the form. */
function saved(typed: Typed, rates: Rates | null = null, dayMs = Number.NaN) {
  const model = { name: 'm', upstream: 'https://a.test/v1', rates, hasMore: false }
  const { fields, save } = priceForm(model, 1000, () => dayMs)
  return save((name) => typed[name] ?? fields.find((field) => field.name === name)?.value ?? '')
}

function body(typed: Typed, rates: Rates | null = null, dayMs?: number): unknown {
  return (saved(typed, rates, dayMs) as { readonly body: object }).body
}

function wrong(typed: Typed): readonly string[] {
  return Object.keys((saved(typed) as { readonly errors: object }).errors)
}

test('amounts are written with a point or a comma, and left out where nothing was written', () => {
  const rates = { input: ' 0,15', output: '$.6', cache_read: '', cache_write: '3.' }
  assert.deepEqual(body(rates), { input: 0.15, output: 0.6, cache_write: 3 })
})

test('input and output are needed, where nothing else is billed for', () => {
  assert.deepEqual(wrong({}), ['input', 'output'])
  assert.deepEqual(wrong({ input: '1' }), ['output'])
  assert.deepEqual(body({ per_search_unit: '0.002' }), { input: 0, output: 0, per_search_unit: 0.002 })
})

test('an error is told in its field', () => {
  for (const output of ['a', '-1', '1e3', '1.2.3', 'NaN', '1001', '2,500']) {
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
