import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFigures } from './group-figures.ts'
import { CallSums, type SumColumn, sumColumns } from '../rollup/call-sums.ts'

function figuresOf(sums: Partial<Record<SumColumn, number>>, tpotUs: readonly number[] = []): CallSums {
  const figures = new CallSums()
  for (const [column, value] of Object.entries(sums))
    figures.totals[sumColumns.indexOf(column as SumColumn)] = value
  for (const value of tpotUs) figures.distributions.tpot_us.add(value)
  return figures
}

const rates: readonly [Partial<Record<SumColumn, number>>, number | null][] = [
  [{}, null],
  [{ calls: 4, errors: 1 }, 0.25],
  [{ calls: 4, errors: 1, left_calls: 2 }, 0.5],
  [{ calls: 2, left_calls: 2 }, null],
  [{ calls: 2, errors: 0 }, 0],
]
for (const [sums, expected] of rates) {
  test(`error rate of ${JSON.stringify(sums)}`, () => {
    assert.equal(groupFigures(figuresOf(sums)).error_rate, expected)
  })
}

test('a cost is null where no call has a price, and 0 where calls cost nothing', () => {
  assert.equal(groupFigures(figuresOf({ calls: 1, unpriced_calls: 1 })).cost_usd, null)
  assert.equal(groupFigures(figuresOf({ calls: 1, priced_calls: 1 })).cost_usd, 0)
  assert.equal(groupFigures(figuresOf({ priced_calls: 2, cost_nano_usd: 1_500_000_000 })).cost_usd, 1.5)
})

test('times are told in milliseconds; a single value is all of its percentiles', () => {
  const { tpot_ms: tpot, output_tokens_per_s: speed } = groupFigures(figuresOf({}, [20_000]))
  assert.deepEqual(tpot, { n: 1, avg: 20, p50: 20, p90: 20, p95: 20, p99: 20, max: 20 })
  assert.deepEqual(speed, { n: 1, avg: 50, p50: 50, p90: 50, p95: 50, p99: 50, max: 50 })
})

test('what was not measured has no figures', () => {
  const nothing = { n: 0, avg: null, p50: null, p90: null, p95: null, p99: null, max: null }
  assert.deepEqual(groupFigures(new CallSums()).duration_ms, nothing)
  assert.deepEqual(groupFigures(new CallSums()).output_tokens_per_s, nothing)
})

test('speeds are those of the calls, the mean of them their own mean', () => {
  // 1000 and 10 tokens per second.
  const speed = groupFigures(figuresOf({}, [1000, 100_000])).output_tokens_per_s
  assert.deepEqual(
    { n: speed.n, avg: speed.avg, p50: speed.p50, max: speed.max },
    { n: 2, avg: 505, p50: 505, max: 1000 },
  )
})

test('a time of zero has no speed', () => {
  const figures = groupFigures(figuresOf({}, [0, 0, 20_000]))
  assert.equal(figures.tpot_ms.n, 3)
  assert.deepEqual(figures.output_tokens_per_s, {
    n: 1,
    avg: 50,
    p50: 50,
    p90: 50,
    p95: 50,
    p99: 50,
    max: 50,
  })
})
