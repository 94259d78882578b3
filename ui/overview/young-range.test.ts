import assert from 'node:assert/strict'
import { test } from 'node:test'
import { youngRange } from './young-range.ts'

type Day = Parameters<typeof youngRange>[0]

const toMs = Date.UTC(2026, 10, 21, 14)

/** With one call that many minutes ago. */
function day(minutesAgo: number, callsBefore: number | null = 0): Day {
  const start_s = [toMs / 1000 - 86_400, toMs / 1000 - minutesAgo * 60]
  const previous = callsBefore === null ? null : { calls: callsBefore }
  return { buckets: { start_s, calls: [0, 1] }, to: new Date(toMs).toISOString(), previous } as unknown as Day
}

test('calls of the last hours alone are shown in as many', () => {
  assert.equal(youngRange(day(15)), '1h')
  assert.equal(youngRange(day(60)), '1h')
  assert.equal(youngRange(day(75)), '6h')
  assert.equal(youngRange(day(375)), null)
})

test('a day stays a day where calls came before it, or nobody knows', () => {
  assert.equal(youngRange(day(15, 3)), null)
  assert.equal(youngRange(day(15, null)), null)
  assert.equal(youngRange({ ...day(15), buckets: { start_s: [0], calls: [0] } } as unknown as Day), null)
})
