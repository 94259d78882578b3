import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PriceDraft, bodyOf, draftOf } from './price-form.ts'

const empty = draftOf(null)
const noDay = (): number => Number.NaN

function body(draft: Partial<PriceDraft>): unknown {
  return bodyOf({ ...empty, ...draft }, 1000, noDay)
}

test('amounts are written with a point or a comma, and left out where nothing was written', () => {
  const rates = { input: ' 0,15', output: '$.6', cache_read: '', cache_write: '3.' }
  assert.deepEqual(body({ rates }), { body: { input: 0.15, output: 0.6, cache_write: 3 } })
})

test('input and output are needed, where nothing else is billed for', () => {
  assert.deepEqual(Object.keys((body({}) as { trouble: object }).trouble), ['input', 'output'])
  assert.deepEqual(Object.keys((body({ rates: { input: '1' } }) as { trouble: object }).trouble), ['output'])
  assert.deepEqual(body({ rates: { per_search_unit: '0.002' } }), {
    body: { input: 0, output: 0, per_search_unit: 0.002 },
  })
})

test('what is no amount is told in its field', () => {
  for (const text of ['a', '-1', '1e3', '1.2.3', 'NaN', '1001', '2,500']) {
    const { trouble } = body({ rates: { input: '1', output: text } }) as { trouble: object }
    assert.deepEqual(Object.keys(trouble), ['output'], text)
  }
})

test('free is said, not left to be guessed', () => {
  assert.deepEqual(body({ isFree: true, rates: { input: 'nonsense' } }), { body: { input: 0, output: 0 } })
})

test('from now on, from a day on, or for all calls', () => {
  const rates = { input: '1', output: '2' }
  const from = (draft: Partial<PriceDraft>, dayMs: number): unknown =>
    bodyOf({ ...empty, rates, ...draft }, 1000, () => dayMs)
  assert.deepEqual(from({ since: 'now' }, 0), {
    body: { input: 1, output: 2, effective_from: '1970-01-01T00:00:01.000Z' },
  })
  assert.deepEqual(from({ since: 'day', day: '1970-01-02' }, 86_400_000), {
    body: { input: 1, output: 2, effective_from: '1970-01-02T00:00:00.000Z' },
  })
  assert.deepEqual(Object.keys((from({ since: 'day' }, Number.NaN) as { trouble: object }).trouble), ['day'])
})

test('a price that is changed shows what it is, and changes from now on', () => {
  const draft = draftOf({ input: 0.15, output: 2, cache_read: 0.000_001 })
  assert.deepEqual(draft.rates, { input: '0.15', output: '2', cache_read: '0.000001' })
  assert.equal(draft.since, 'now')
  assert.equal(empty.since, 'always')
  assert.deepEqual(
    [draft.isFree, empty.isFree, draftOf({ input: 0, output: 0 }).isFree],
    [false, false, true],
  )
})
