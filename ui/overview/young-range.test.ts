import assert from 'node:assert/strict'
import { test } from 'node:test'
import { youngRange } from './young-range.ts'

const toMs = Date.UTC(2026, 10, 21, 14)

/** Where the first call was made that many minutes ago. */
function since(minutesAgo: number): ReturnType<typeof youngRange> {
  const recorded_from = new Date(toMs - minutesAgo * 60_000).toISOString()
  return youngRange({ recorded_from, to: new Date(toMs).toISOString() })
}

test('calls of the last hours alone are shown in as many', () => {
  assert.deepEqual([15, 60, 75, 360].map(since), ['1h', '1h', '6h', '6h'])
})

test('a day stays a day where calls came earlier, or none did', () => {
  assert.equal(since(375), null)
  assert.equal(youngRange({ recorded_from: null, to: new Date(toMs).toISOString() }), null)
})
