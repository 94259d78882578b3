import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sparkPath } from './spark-path.ts'

test('a line with gaps, and dots for what stands alone', () => {
  assert.deepEqual(sparkPath([0, 10, null, 5, null, 10, 10], 60, 20), {
    line: 'M0 20L10 0M50 0L60 0',
    dots: [{ x: 30, y: 10 }],
  })
})

test('nothing, one value, and zeros', () => {
  assert.deepEqual(sparkPath([null, null], 60, 20), { line: '', dots: [] })
  assert.deepEqual(sparkPath([7], 60, 20), { line: '', dots: [{ x: 30, y: 0 }] })
  assert.equal(sparkPath([0, 0], 60, 20).line, 'M0 20L60 20')
})
