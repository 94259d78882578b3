import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChartSeries, drawnValues, figureOf, speech } from './chart-series.ts'

const series = (
  key: string,
  values: readonly (number | null)[],
  rest: Partial<ChartSeries> = {},
): ChartSeries => ({
  key,
  words: key,
  colour: 'accent',
  kind: 'bars',
  values,
  show: (value) => `${value} ms`,
  ...rest,
})

const first = { first: 0, last: 0 }

test('what stands upon another is drawn higher, and told as it is', () => {
  const ok = series('ok', [5, 2, null, null])
  const failed = series('failed', [1, null, 3, null], { standsOn: ['ok'] })
  assert.deepEqual(drawnValues(failed, [ok, failed]), [6, 2, 3, null])
  assert.deepEqual(drawnValues(ok, [ok, failed]), ok.values)
  assert.equal(figureOf(failed, first), '1 ms')
})

test('without what it stands on it stands on the ground', () => {
  const failed = series('failed', [1, null], { standsOn: ['ok'] })
  assert.deepEqual(drawnValues(failed, [failed]), [1, null])
})

test('a bucket speaks', () => {
  const p95 = series('p95', [10], {})
  const p99 = series('p99', [null], { missing: () => 'needs 100 calls' })
  assert.equal(speech([p99, p95], first), 'p99 needs 100 calls, p95 10 ms')
  assert.equal(speech([series('p50', [null])], first), 'p50 –')
})

test('several buckets come to a sum, or to the lowest and the highest value', () => {
  const span = { first: 1, last: 3 }
  const figures = (values: readonly (number | null)[], rest: Partial<ChartSeries> = {}): string =>
    figureOf(series('one', values, rest), span)
  assert.equal(figures([9, 1, null, 5], { isSum: true }), '6 ms')
  assert.equal(figures([9, 1, null, 5]), '1 ms – 5 ms')
  assert.equal(figures([9, 4, 4, 4]), '4 ms')
  assert.equal(figures([9, null, null, null], { missing: () => 'needs 20 calls' }), '–')
})
