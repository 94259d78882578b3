import assert from 'node:assert/strict'
import { test } from 'node:test'
import { honest, withEnoughCalls, whyMissing } from './small-sample.ts'

test('a percentile of too few calls is none', () => {
  assert.deepEqual(
    [4, 5].map((n) => honest('p50', 7, n)),
    [null, 7],
  )
  assert.deepEqual(
    [19, 20].map((n) => honest('p95', 7, n)),
    [null, 7],
  )
  assert.deepEqual(
    [99, 100].map((n) => honest('p99', 7, n)),
    [null, 7],
  )
  assert.equal(honest('p50', null, 9), null)
  assert.deepEqual(withEnoughCalls('p95', [1, 2, null], [30, 3, 0]), [1, null, null])
})

test('it says why', () => {
  assert.equal(whyMissing('p99', 42), 'needs 100 calls')
  assert.equal(whyMissing('p99', 0), null)
})
