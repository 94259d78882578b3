import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { sliceSize } from './slice-size.ts'

const sliceMs = 10
const bounds = { least: 4, most: 5000, ms: sliceMs }

test('a slice that took as long as it may is followed by one of the same size', () => {
  assert.equal(sliceSize(700, sliceMs, bounds), 700)
})

test('a slice that took too long is followed by one that would have fitted, a short one by a little more', () => {
  assert.equal(sliceSize(1000, sliceMs * 4, bounds), 250)
  assert.equal(sliceSize(1000, sliceMs * 1000, bounds), 125)
  assert.equal(sliceSize(1000, 0, bounds), 1500)
})

test('whatever the times are, the size stays within its bounds and reaches what fits', () => {
  const property = fc.property(
    fc.integer({ min: 4, max: 5000 }),
    fc.double({ min: 0.0005, max: 50, noNaN: true }),
    (start, msEach) => {
      let size = start
      for (let i = 0; i < 40; i++) size = sliceSize(size, size * msEach, bounds)
      const fitting = Math.min(bounds.most, Math.max(bounds.least, sliceMs / msEach))
      assert.ok(size >= bounds.least && size <= bounds.most)
      assert.ok(Math.abs(size - fitting) <= fitting * 0.2 + 1, `${size} where ${fitting} would fit`)
    },
  )
  fc.assert(property)
})
