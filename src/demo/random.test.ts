import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { drawFrom, integerBetween, pickOne } from './random.ts'

const draws = 20_000

test('half of the draws lie below the median, and their logarithms spread as told', () => {
  const random = seededRandom(1)
  const drawn = Array.from({ length: draws }, () => drawFrom(random, { median: 200, sigma: 0.5 }))
  const below = drawn.filter((value) => value < 200).length
  assert.ok(Math.abs(below / draws - 0.5) < 0.02, `${below} of ${draws} below the median`)
  // The part of a normal distribution within one standard deviation.
  const within = drawn.filter((value) => Math.abs(Math.log(value / 200)) < 0.5).length
  assert.ok(Math.abs(within / draws - 0.683) < 0.02, `${within} of ${draws} within sigma`)
})

test('the ends of a random source stay within bounds', () => {
  const almostOne = 1 - 2 ** -53
  for (const random of [() => 0, () => almostOne]) {
    assert.ok(Number.isFinite(drawFrom(random, { median: 10, sigma: 1 })))
    assert.ok([2, 5].includes(integerBetween(random, 2, 5)))
    assert.ok(['first', 'last'].includes(pickOne(random, ['first', 'middle', 'last'])))
  }
})

test('every whole number between the bounds is drawn, and no other', () => {
  const random = seededRandom(2)
  const drawn = new Set(Array.from({ length: 500 }, () => integerBetween(random, -1, 3)))
  assert.deepEqual(drawn, new Set([-1, 0, 1, 2, 3]))
})
