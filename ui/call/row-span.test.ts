import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { placesOf, scrollToSee, seenRows } from './row-span.ts'

test('of a long list the rows in sight are there, and eight beyond at each side', () => {
  assert.deepEqual(seenRows(1000, 36, 3600, 350), {
    visible: { first: 100, end: 110 },
    rendered: { first: 92, end: 118 },
  })
  assert.deepEqual(seenRows(3, 36, 0, 350).rendered, { first: 0, end: 3 })
  assert.deepEqual(seenRows(0, 36, 0, 350).rendered, { first: 0, end: 0 })
})

test('a list that became shorter while far down shows its end, not nothing that fails', () => {
  assert.deepEqual(seenRows(10, 36, 99_999, 350).rendered, { first: 2, end: 10 })
})

test('the row with the focus is there wherever the list is', () => {
  assert.deepEqual(placesOf({ first: 4, end: 7 }, -1), [4, 5, 6])
  assert.deepEqual(placesOf({ first: 4, end: 7 }, 5), [4, 5, 6])
  assert.deepEqual(placesOf({ first: 4, end: 7 }, 1), [1, 4, 5, 6])
  assert.deepEqual(placesOf({ first: 4, end: 7 }, 9), [4, 5, 6, 9])
})

test('scrolling to a row brings all of it into sight, and no further than needed', () => {
  const place = fc.record({
    index: fc.nat(10_000),
    offsetPx: fc.nat(400_000),
    heightPx: fc.integer({ min: 40, max: 2000 }),
  })
  fc.assert(
    fc.property(place, ({ index, offsetPx, heightPx }) => {
      const byPx = scrollToSee(index, 36, offsetPx, heightPx)
      const topPx = index * 36 - (offsetPx + byPx)
      assert.ok(topPx >= 0 && topPx + 36 <= heightPx)
      if (byPx !== 0) assert.ok(topPx === 0 || topPx + 36 === heightPx)
    }),
  )
})
