import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketOfKey, calendarFrame } from './calendar-frame.ts'

const fromMs = Date.parse('2026-11-19T08:00:00Z')
const iso = (starts: readonly number[]): readonly string[] => starts.map((ms) => new Date(ms).toISOString())

test('buckets begin with the days, hours and minutes that the range touches', () => {
  const days = calendarFrame({ fromMs, toMs: Date.parse('2026-11-21T09:00:00Z') }, 'day', true)
  assert.deepEqual(iso(days.startsMs), [
    '2026-11-19T00:00:00.000Z',
    '2026-11-20T00:00:00.000Z',
    '2026-11-21T00:00:00.000Z',
  ])
  const hours = calendarFrame({ fromMs: fromMs + 1, toMs: fromMs + 7_200_000 }, 'hour', true)
  assert.deepEqual(hours.startsMs, [fromMs, fromMs + 3_600_000])
  const fives = calendarFrame({ fromMs: fromMs + 120_000, toMs: fromMs + 720_000 }, 'minute', false, 5)
  assert.deepEqual(iso(fives.startsMs), [
    '2026-11-19T08:00:00.000Z',
    '2026-11-19T08:05:00.000Z',
    '2026-11-19T08:10:00.000Z',
  ])
  const local = calendarFrame({ fromMs, toMs: fromMs + 86_400_000 * 40 }, 'day', false)
  assert.ok(local.startsMs.every((ms) => new Date(ms).getHours() === 0))
})

test('days begin at midnight again after one on which clocks went forward at midnight', (t) => {
  const before = process.env['TZ']
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
  process.env['TZ'] = 'America/Santiago'
  const bounds = { fromMs: Date.parse('2026-09-05T12:00:00Z'), toMs: Date.parse('2026-09-08T12:00:00Z') }
  const { startsMs } = calendarFrame(bounds, 'day', false)
  assert.equal(startsMs.map((ms) => new Date(ms).getHours()).join(' '), '0 1 0 0')
})

test('a group is in the bucket of its instant, or of its date', () => {
  const bounds = { fromMs, toMs: fromMs + 3 * 86_400_000 }
  const hours = calendarFrame(bounds, 'hour', true)
  assert.equal(bucketOfKey(hours, '2026-11-19T10:00:00+01:00', true), 1)
  for (const utc of [true, false]) {
    const days = calendarFrame(bounds, 'day', utc)
    assert.equal(bucketOfKey(days, '2026-11-20', utc), 1)
  }
})
