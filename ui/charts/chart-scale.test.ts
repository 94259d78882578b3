import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { axisDuration, heightOf, linearScale, logScale, niceStep } from './chart-scale.ts'

test('a logarithmic scale is cut to its data and has ticks at 1, 2 and 5', () => {
  const scale = logScale([2300, 4100, null, 23_000])
  assert.deepEqual(scale?.ticks, [5000, 10_000, 20_000])
  assert.ok(scale.from > 2000 && scale.to < 25_000)
})

test('nearly equal values still have more than one tick', () => {
  const scale = logScale([480, 500])
  assert.ok((scale?.ticks.length ?? 0) >= 3, String(scale?.ticks))
})

test('many decades have few ticks', () => {
  assert.deepEqual(logScale([1, 1_000_000])?.ticks, [1, 100, 10_000, 600_000])
})

test('long times have ticks in minutes and hours', () => {
  assert.deepEqual(logScale([4000, 800_000])?.ticks, [10_000, 30_000, 60_000, 180_000, 600_000])
  const linear = { leastTop: 1, isTime: true }
  assert.deepEqual(linearScale([110_000], linear).ticks, [0, 30_000, 60_000, 90_000])
  assert.deepEqual(linearScale([1_100_000], linear).ticks, [0, 300_000, 600_000, 900_000])
  const words = [0, 0.5, 1500, 60_000, 3_600_000].map(axisDuration)
  assert.equal(words.join(', '), '0, 500 µs, 1.5 s, 1 min, 1 h')
})

test('nothing above zero has no logarithmic scale', () => {
  assert.equal(logScale([null, 0]), null)
})

test('a linear scale begins at 0 and ends just above its data', () => {
  assert.deepEqual(linearScale([40, null, 150], { leastTop: 1 }).ticks, [0, 50, 100, 150])
  assert.deepEqual(linearScale([4], { leastTop: 1, isInteger: true }).ticks, [0, 2, 4])
  assert.deepEqual(linearScale([1], { leastTop: 1, isInteger: true }).ticks, [0, 1])
  assert.deepEqual(linearScale([0.01], { leastTop: 100 }).ticks, [0, 50, 100])
})

const values = fc.array(fc.double({ min: 0.001, max: 1e8, noNaN: true }), {
  minLength: 1,
  maxLength: 100,
  size: 'max',
})

test('whatever the data: it lies within, ticks rise, lie within and are few', () => {
  fc.assert(
    fc.property(values, fc.boolean(), (values, isLog) => {
      const scale = isLog ? logScale(values) : linearScale(values, { leastTop: 1 })
      assert.ok(scale !== null)
      const { from, to, ticks } = scale
      assert.ok(values.every((value) => value >= from && value <= to))
      assert.ok(ticks.every((tick, index) => tick >= from && tick <= to && tick > (ticks[index - 1] ?? -1)))
      assert.ok(ticks.length >= 2 && ticks.length <= 8, String(ticks))
    }),
  )
})

test('heights rise with values and stay within the plot', () => {
  const scale = logScale([10, 1000])
  assert.ok(scale !== null)
  const heights = [0, 5, 10, 100, 1000, 5000].map((value) => heightOf(scale, value))
  assert.ok(heights.every((height, at) => height >= (heights[at - 1] ?? 0)))
  assert.deepEqual([heights[0], heights.at(-1)], [0, 1])
})

test('steps are 1, 2 or 5 times a power of ten', () => {
  assert.equal([0.3, 1, 1.1, 3, 60].map((value) => niceStep(value)).join(' '), '0.5 1 2 5 100')
})

test('a linear scale has a tick above 0, however few it may have', () => {
  assert.deepEqual(linearScale([4.5], { leastTop: 1, maxTicks: 2 }).ticks, [0, 4])
  assert.deepEqual(linearScale([0.03], { leastTop: 0.04, maxTicks: 1 }).ticks, [0, 0.04])
  assert.deepEqual(linearScale([1], { leastTop: 1, isInteger: true, maxTicks: 1 }).ticks, [0, 1])
})
