import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RepriceDay, RepriceResult } from '../../src/api/costs.ts'
import { consequences, doneWords, offerWords, repricedModels, signedDollars } from './reprice-words.ts'

function day(
  name: string,
  model: string,
  calls: number,
  before: number | null,
  after: number | null,
): RepriceDay {
  return {
    day: name,
    model,
    calls,
    before_usd: before,
    after_usd: after,
    newly_priced: before === null ? calls : 0,
    newly_unpriced: after === null ? calls : 0,
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
  assert.deepEqual(
    repricedModels(days).map(({ model, calls, before_usd, after_usd, days: own }) => [
      model,
      calls,
      before_usd,
      after_usd,
      own.map((one) => dayWords(one.day)).join(' '),
    ]),
    [
      ['dearer', 7, 4, 9, '20'],
      ['fresh', 1204, null, 3.1, '12 21'],
      ['gone', 2, 1, null, '01'],
    ],
  )
})

test('what can be priced now is offered with its days and its sum, and nothing where there is nothing', () => {
  assert.equal(offerWords(result(days), dayWords), '1\u202f204 calls from 12 to 21 can be priced now: $3.10.')
  assert.equal(offerWords(result(days.slice(2)), dayWords), null)
  assert.equal(
    offerWords(result(days.slice(0, 1)), dayWords),
    '1\u202f000 calls of 21 can be priced now: $2.00.',
  )
})

test('what applying it means is said before, each thing that it does', () => {
  assert.deepEqual(consequences(result(days)).slice(0, -2), [
    '1\u202f204 calls without a cost get one.',
    'What 7 calls cost is replaced; what it was is kept in the database.',
    '2 calls lose their cost: no price is known any more.',
  ])
  assert.equal(consequences(result(days.slice(0, 2))).length, 3)
})

test('what came of it', () => {
  assert.equal(doneWords(result(days.slice(0, 2))), '1\u202f204 calls priced anew: +$3.10.')
  assert.equal(doneWords(result([])), 'There was nothing to change.')
  assert.deepEqual([3.1, -0.42, 0].map(signedDollars), ['+$3.10', '−$0.42', '±$0'])
})
