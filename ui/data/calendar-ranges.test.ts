import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CalendarRange, calendarBounds } from './calendar-ranges.ts'

const utc = (range: CalendarRange, now: string): readonly string[] => {
  const { fromMs, toMs } = calendarBounds(range, Date.parse(now), true)
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 16))
}

test('days and months of the calendar, those that are not over up to now', () => {
  const now = '2026-03-01T10:30:00Z'
  assert.deepEqual(utc('Today', now), ['2026-03-01T00:00', '2026-03-01T10:30'])
  assert.deepEqual(utc('Yesterday', now), ['2026-02-28T00:00', '2026-03-01T00:00'])
  assert.deepEqual(utc('This month', now), ['2026-03-01T00:00', '2026-03-01T10:30'])
  assert.deepEqual(utc('Last month', now), ['2026-02-01T00:00', '2026-03-01T00:00'])
  assert.deepEqual(utc('Last month', '2026-01-15T00:00:00Z'), ['2025-12-01T00:00', '2026-01-01T00:00'])
  assert.deepEqual(utc('Yesterday', '2026-01-01T00:00:00Z'), ['2025-12-31T00:00', '2026-01-01T00:00'])
})

test('a day is as long as the clocks make it', (t) => {
  const before = process.env['TZ']
  t.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  process.env['TZ'] = 'Europe/Berlin'
  const { fromMs, toMs } = calendarBounds('Yesterday', Date.parse('2026-10-26T12:00:00Z'), false)
  assert.equal((toMs - fromMs) / 3_600_000, 25)
})
