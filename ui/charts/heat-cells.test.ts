import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Heat, binWords, heatShare, heatTicks, mostCalls, withRoom } from './heat-cells.ts'
import { fieldsOf } from '../../test/support/fields-of.ts'

const heat: Heat = { limits_ms: [0, 1, 2, 5, 10, 20, 50, 100], counts: [[], [3], [0, 0, 90]] }

test('the fullest cell', () => {
  assert.equal(mostCalls(heat), 90)
  assert.equal(mostCalls({ limits_ms: [], counts: [[], []] }), 0)
})

test('colour grows with the count, and one call is seen', () => {
  const shares = [0, 1, 5, 90].map((count) => heatShare(count, 90))
  assert.deepEqual(
    shares,
    shares.toSorted((a, b) => a - b),
  )
  assert.equal(shares[0], 0)
  assert.ok((shares[1] ?? 0) > 0.1)
  assert.equal(shares[3], 1)
  assert.equal(heatShare(1, 1), 1)
})

test('bins in words', () => {
  assert.equal(binWords(heat, 0), 'under 1 ms')
  assert.equal(binWords(heat, 2), '2 ms to 5 ms')
})

test('labels: each limit but 0, or decades where these are too many', () => {
  assert.deepEqual(fieldsOf(heatTicks(heat, 9), 'ms'), [1, 2, 5, 10, 20, 50, 100])
  assert.deepEqual(heatTicks(heat, 4), [
    { bin: 1, ms: 1 },
    { bin: 4, ms: 10 },
    { bin: 7, ms: 100 },
  ])
  assert.deepEqual(fieldsOf(heatTicks(heat, 2), 'ms'), [1, 100])
})

test('few bins get room around them, in the same steps', () => {
  const { limits_ms: limits, counts } = withRoom({ limits_ms: [2000, 5000], counts: [[3], []] })
  assert.deepEqual(limits, [200, 500, 1000, 2000, 5000, 10_000, 20_000])
  assert.deepEqual(counts, [
    [0, 0, 0, 3],
    [0, 0, 0],
  ])
  assert.deepEqual(withRoom({ limits_ms: [], counts: [] }).limits_ms, [])
  assert.deepEqual(withRoom({ limits_ms: [0, 1], counts: [[1]] }).limits_ms, [0, 1, 2, 5, 10, 20, 50])
  const many = { limits_ms: [1, 2, 5, 10, 20, 50, 100], counts: [] }
  assert.deepEqual(withRoom(many), many)
})
