import assert from 'node:assert/strict'
import { it } from 'node:test'
import { clockTime } from './clock-time.ts'

it('clockTime leaves out what is the same as now, in local time', () => {
  const now = new Date(2026, 10, 21, 14, 0, 0).getTime()
  assert.equal(clockTime(new Date(2026, 10, 21, 9, 3, 7).getTime(), now), '09:03:07')
  assert.equal(clockTime(new Date(2026, 10, 20, 23, 59, 59).getTime(), now), '11-20 23:59:59')
  assert.equal(clockTime(new Date(2026, 9, 21, 14, 0, 0).getTime(), now), '10-21 14:00:00')
  assert.equal(clockTime(new Date(2025, 10, 21, 14, 0, 0).getTime(), now), '2025-11-21 14:00:00')
})
