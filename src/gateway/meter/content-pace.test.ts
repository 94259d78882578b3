import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContentPace } from './content-pace.ts'

test('gaps, stalls and the first visible chunk', () => {
  const pace = new ContentPace()
  for (const [atMs, visible] of [
    [10, false],
    [20, true],
    [1020, true],
    [2021, true],
  ] as const)
    pace.add(atMs, visible)
  assert.equal(pace.chunks, 4)
  assert.equal(pace.firstVisibleAtMs, 20)
  assert.equal(pace.longestGapMs, 1001)
  assert.equal(pace.stalls, 1, 'a gap of exactly one second is none')
  assert.deepEqual(pace.gapPercentiles([0, 0.5, 1]), [10, 1000, 1001])
})

test('over many gaps, percentiles stay within 1%', () => {
  const pace = new ContentPace()
  let atMs = 0
  for (let gap = 1; gap <= 1000; gap++) pace.add((atMs += gap / 10), true)
  const [median = null, high = null] = pace.gapPercentiles([0.5, 0.95])
  assert.ok(Math.abs((median ?? 0) / 50.1 - 1) < 0.01)
  assert.ok(Math.abs((high ?? 0) / 95.05 - 1) < 0.01)
  assert.equal(pace.longestGapMs !== null && Math.round(pace.longestGapMs), 100)
})

test('how many chunks came early is known within 2%, however many there are', () => {
  const pace = new ContentPace()
  for (const atMs of [0, 1, 2, 3, 1000]) pace.add(atMs, true)
  assert.equal(pace.chunksWithin(0.1), 0.8)
  for (const count of [2, 127, 128, 129, 1000, 5000]) {
    const even = new ContentPace()
    for (let i = 0; i < count; i++) even.add(7 + i * 10, true)
    const expected = (Math.floor((count - 1) / 10) + 1) / count
    assert.ok(Math.abs(even.chunksWithin(0.1) - expected) < 0.02, `${count}: ${even.chunksWithin(0.1)}`)
    assert.equal(even.chunksWithin(1), 1)
  }
})
