import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bucketAt,
  bucketBounds,
  bucketsBetween,
  partialBuckets,
  rangeBounds,
  shareOfTime,
  type TimeFrame,
} from './time-frame.ts'

/** Four buckets of 100 ms. The range starts at 50 and ends at 380. */
const frame: TimeFrame = { fromMs: 50, toMs: 380, startsMs: [0, 100, 200, 300], bucketMs: 100 }

test('the bucket of an instant', () => {
  assert.equal([-5, 0, 99, 100, 299, 300, 999].map((ms) => bucketAt(frame, ms)).join(' '), '0 0 0 1 2 3 3')
  assert.equal(bucketAt({ ...frame, startsMs: [] }, 5), -1)
})

test('buckets at the edges are cut by the range', () => {
  assert.deepEqual(bucketBounds(frame, 0), { fromMs: 50, toMs: 100 })
  assert.deepEqual(bucketBounds(frame, 1), { fromMs: 100, toMs: 200 })
  assert.deepEqual(bucketBounds(frame, 3), { fromMs: 300, toMs: 380 })
  assert.deepEqual(partialBuckets(frame), [0, 3])
  assert.deepEqual(partialBuckets({ ...frame, fromMs: 0, toMs: 395 }), [])
})

test('a selection is of whole buckets, whichever way it was drawn, within the range', () => {
  assert.deepEqual(rangeBounds(frame, bucketsBetween(1, 2)), { fromMs: 100, toMs: 300 })
  assert.deepEqual(rangeBounds(frame, bucketsBetween(3, 1)), { fromMs: 100, toMs: 380 })
  assert.deepEqual(rangeBounds(frame, bucketsBetween(1, 1)), { fromMs: 100, toMs: 200 })
})

test('shares of time', () => {
  assert.equal([0, 50, 215, 380, 400].map((ms) => shareOfTime(frame, ms)).join(' '), '0 0 0.5 1 1')
})
