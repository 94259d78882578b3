import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awayMs } from './demo-traffic.ts'

test('a client stays away longer with each failure, up to five seconds, and never at the same time as all others', () => {
  const shortest = Array.from({ length: 12 }, (_, i) => awayMs(i + 1, () => 0))
  const longest = Array.from({ length: 12 }, (_, i) => awayMs(i + 1, () => 1))
  assert.deepEqual(shortest.slice(0, 6), [250, 500, 1000, 2000, 2500, 2500])
  assert.deepEqual(longest.slice(0, 6), [500, 1000, 2000, 4000, 5000, 5000])
  assert.equal(longest.at(-1), 5000)
})
