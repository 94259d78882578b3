import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Times } from './times.ts'

const instant = Date.UTC(2026, 10, 21, 4, 5, 9)

test('times in UTC say so', () => {
  const times = new Times(true, () => Date.UTC(2026, 10, 21))
  assert.equal(times.zone, 'UTC')
  assert.equal(times.clock(instant), '04:05')
  assert.equal(times.seconds(instant), '04:05:09')
  assert.equal(times.day(instant), '21 Nov')
  assert.equal(times.dayAndClock(instant), '21 Nov, 04:05')
  assert.equal(times.full(instant), '21 Nov 2026, 04:05:09 UTC')
})

test('today is told by the clock, other days by their date', () => {
  const times = new Times(true, () => Date.UTC(2026, 10, 21))
  assert.equal(times.short(instant, instant + 3_600_000), '04:05:09')
  assert.equal(times.short(instant, instant + 86_400_000), '21 Nov 04:05:09')
})

test("the reader's zone is the one that the dashboard is asked in", () => {
  const times = new Times(false, () => Date.UTC(2026, 10, 21))
  assert.equal(times.zone, Intl.DateTimeFormat().resolvedOptions().timeZone)
  assert.equal(times.suffix, '')
  assert.equal(times.inUtc(instant), '21 Nov 2026, 04:05:09 UTC')
})

test('a range names a day once where both ends are on it', () => {
  const times = new Times(true, () => Date.UTC(2026, 10, 21))
  assert.equal(times.between(instant, instant + 3_600_000), '21 Nov, 04:05 to 05:05 UTC')
  assert.equal(times.between(instant, instant + 86_400_000), '21 Nov, 04:05 to 22 Nov, 04:05 UTC')
})

test('a date of another year has its year, in ranges, in lists and under charts', () => {
  const times = new Times(true, () => Date.UTC(2027, 0, 2))
  const year = [Date.UTC(2026, 0, 2), Date.UTC(2027, 0, 2)] as const
  assert.equal(times.between(...year), '2 Jan 2026, 00:00 to 2 Jan, 00:00 UTC')
  assert.equal(times.short(instant, times.now()), '21 Nov 2026 04:05:09')
  assert.equal(times.day(Date.UTC(2027, 0, 1)), '1 Jan')
})

test('a span of seconds tells them', () => {
  const times = new Times(true, () => instant)
  assert.equal(times.between(instant, instant + 11_000), '21 Nov, 04:05:09 to 04:05:20 UTC')
})

test('a day of the calendar begins at midnight, and has a name', () => {
  const times = new Times(true, () => Date.UTC(2026, 10, 21))
  assert.equal(times.dayStartMs('2026-11-21'), Date.UTC(2026, 10, 21))
  assert.equal(times.namedDay('2026-11-21'), '21 Nov')
  assert.ok(Number.isNaN(times.dayStartMs('')))
})
