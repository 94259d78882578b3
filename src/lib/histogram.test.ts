import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Histogram, quantileOf } from './histogram.ts'
import { VarintReader, VarintWriter } from './packed-numbers.ts'
import { draws } from '../../test/support/draws.ts'

function bytesOf(histogram: Histogram): Uint8Array {
  const writer = new VarintWriter()
  histogram.writeTo(writer)
  return writer.toBytes()
}

function copyOf(histogram: Histogram): Histogram {
  const copy = new Histogram()
  copy.addFrom(new VarintReader(bytesOf(histogram)))
  return copy
}

function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram()
  for (const value of values) histogram.add(value)
  return histogram
}

function histogramTwice(histogram: Histogram): Histogram {
  const twice = copyOf(histogram)
  twice.merge(histogram)
  return twice
}

const quantiles = [0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1]

function percentiles(histogram: Histogram): (number | null)[] {
  return quantiles.map((quantile) => histogram.percentile(quantile))
}

const durations = fc.array(fc.double({ min: 0.001, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 300 })

test('percentiles are within 1% of the exact ones', () => {
  fc.assert(
    fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, quantile) => {
      const sorted = values.toSorted((a, b) => a - b)
      const exact = quantileOf(sorted.length, quantile, (rank) => sorted[rank] ?? 0)
      const percentile = histogramOf(values).percentile(quantile)
      assert.ok(exact !== null && percentile !== null)
      assert.ok(Math.abs(percentile - exact) <= exact * 0.01, `${percentile} is not ${exact}`)
    }),
  )
})

test('merged histograms are that of all values, in any order', () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const all = histogramOf([...some, ...others])
      const forth = histogramOf(some)
      forth.merge(histogramOf(others))
      const back = histogramOf(others)
      back.merge(histogramOf(some))
      assert.deepEqual(percentiles(forth), percentiles(all))
      assert.deepEqual(bytesOf(back), bytesOf(all))
      assert.equal(back.count, some.length + others.length)
    }),
  )
})

test('its bytes bring it back', () => {
  fc.assert(
    fc.property(durations, fc.nat(5), (values, zeros) => {
      const histogram = histogramOf(values)
      histogram.add(0, zeros)
      const back = copyOf(histogram)
      assert.equal(back.count, values.length + zeros)
      assert.deepEqual(percentiles(back), percentiles(histogram))
    }),
  )
})

test('a bucket in use takes about three bytes', () => {
  const histogram = new Histogram()
  for (let ms = 10; ms < 30; ms += 0.5) histogram.add(ms, 100)
  assert.ok(bytesOf(histogram).length < 130)
})

test('zeros are values, and without any value there is no percentile', () => {
  assert.equal(new Histogram().percentile(0.5), null)
  assert.equal(histogramOf([0, 0, 0, 10]).percentile(0.5), 0)
  assert.equal(histogramOf([-1]).percentile(0.5), 0)
})

test('what is no number is left out, what is beyond the scale is its end', () => {
  assert.equal(histogramOf([Number.NaN, Number.POSITIVE_INFINITY]).count, 0)
  const end = histogramOf([1e300]).percentile(1) ?? 0
  assert.ok(Math.abs(end - 1e12) < 1e10)
})

test('counts beyond 32 bits hold', () => {
  const histogram = new Histogram()
  histogram.add(5, 2 ** 40)
  assert.equal(copyOf(histogram).count, 2 ** 40)
})

for (const bytes of [[], [128], [0], [1, 0, 5], [1, 0, 255, 255, 1, 1]]) {
  test(`the bytes ${bytes.join(' ')} are refused`, () => {
    assert.throws(() => new Histogram().addFrom(new VarintReader(Uint8Array.from(bytes))), RangeError)
  })
}

test('quantiles are interpolated between the nearest ranks, as in SQLite', () => {
  const at = (rank: number): number => [10, 20, 40][rank] ?? 0
  const quantiles = [0, 0.25, 0.5, 0.75, 1].map((quantile) => quantileOf(3, quantile, at))
  assert.deepEqual(quantiles, [10, 15, 20, 30, 40])
})

test('the values of several ranks are those of each, whether they rise or not', () => {
  const value = fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 1e6, noNaN: true }))
  const property = fc.property(
    fc.array(value, { minLength: 1, maxLength: 60 }),
    fc.array(fc.nat(59), { maxLength: 6 }),
    (values, drawn) => {
      const histogram = histogramOf(values)
      const ranks = drawn.map((rank) => rank % values.length)
      const one = ranks.map((rank) => histogram.atRanks([rank])[0])
      assert.deepEqual(histogram.atRanks(ranks), one)
    },
  )
  fc.assert(property, { numRuns: draws(500) })
})

test('counts between limits are those of the values, within 1% of a limit', () => {
  const limits = [0, 0.5, 20, 1000, 40_000]
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 200 }), (values) => {
      const isNear = (value: number): boolean =>
        limits.some((limit) => limit > 0 && Math.abs(value - limit) <= limit * 0.01)
      const far = values.filter((value) => !isNear(value))
      const binOf = (value: number): number => limits.slice(1, -1).filter((limit) => value >= limit).length
      const expected = [0, 0, 0, 0]
      for (const value of far) expected[binOf(value)]! += 1
      assert.deepEqual(histogramOf(far).countsBetween(limits), expected)
      const all = histogramOf(values).countsBetween(limits)
      const total = all.reduce((sum, count) => sum + count, 0)
      assert.equal(total, values.length)
    }),
  )
  assert.deepEqual(histogramOf([3]).countsBetween([5]), [])
})

test('where many buckets are in use, a value takes two bytes; its bytes bring it back, and none of them can be missing', () => {
  const value = fc.double({ min: 0.001, max: 1e7, noNaN: true })
  const times = fc.oneof(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 2 ** 31 }),
    fc.constant(2 ** 40),
  )
  const counted = fc.array(fc.record({ value, times }), { minLength: 60, maxLength: 400 })
  fc.assert(
    fc.property(counted, (all) => {
      const histogram = new Histogram()
      for (const { value, times } of all) histogram.add(value, times)
      const writer = new VarintWriter()
      writer.write(300)
      histogram.writeTo(writer)
      histogram.writeTo(writer)
      writer.write(7)
      const reader = new VarintReader(writer.toBytes())
      const copy = new Histogram()
      assert.equal(reader.read(), 300)
      copy.addFrom(reader)
      copy.addFrom(reader)
      assert.equal(reader.read(), 7)
      assert.ok(reader.atEnd)
      assert.equal(copy.count, 2 * histogram.count)
      assert.deepEqual(bytesOf(histogramTwice(histogram)), bytesOf(copy))
      const bytes = bytesOf(histogram)
      const cut = new VarintReader(bytes.subarray(0, bytes.length - 1))
      assert.throws(() => new Histogram().addFrom(cut), RangeError)
    }),
  )
  const single = histogramOf(Array.from({ length: 200 }, (_, at) => 1.03 ** at))
  assert.ok(bytesOf(single).length < 2.5 * 200, `${bytesOf(single).length}`)
})
