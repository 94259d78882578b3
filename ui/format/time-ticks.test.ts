import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Times } from './times.ts'
import { timeTicks } from './time-ticks.ts'

const times = new Times(true, () => Date.UTC(2026, 10, 21))
const at = (text: string): number => Date.parse(`2026-11-${text}Z`)
const words = (from: string, to: string, most: number): string =>
  timeTicks(times, at(from), at(to), most)
    .map(({ words }) => words)
    .join(', ')

test('round times by the clock, midnight by its date, and days', () => {
  const day = '18:00, 21:00, 21 Nov, 03:00, 06:00, 09:00, 12:00, 15:00'
  assert.equal(words('20T15:07:00', '21T15:07:00', 8), day)
  assert.equal(words('20T15:07:12', '20T16:07:12', 6), '15:10, 15:20, 15:30, 15:40, 15:50, 16:00')
  assert.equal(words('20T15:07:12', '20T15:09:00', 4), '15:07:30, 15:08:00, 15:08:30')
  const week = '15 Nov, 16 Nov, 17 Nov, 18 Nov, 19 Nov, 20 Nov, 21 Nov'
  assert.equal(words('14T11:00:00', '21T11:00:00', 7), week)
  assert.equal(words('01T11:00:00', '30T11:00:00', 6).split(',').length, 6)
})

test('months by their first days, over New Year', () => {
  const of = (from: string, to: string, most: number): string =>
    timeTicks(times, Date.parse(from), Date.parse(to), most)
      .map(({ words }) => words)
      .join(', ')
  const firsts = '1 Dec 2025, 1 Jan, 1 Feb, 1 Mar, 1 Apr, 1 May, 1 Jun, 1 Jul'
  for (const most of [9, 17]) assert.equal(of('2025-11-02T08:52:00Z', '2026-07-20T08:52:00Z', most), firsts)
  assert.equal(
    of('2025-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 5),
    '1 Jan 2025, 1 Apr 2025, 1 Jul 2025, 1 Oct 2025, 1 Jan',
  )
  assert.equal(
    of('2019-03-01T00:00:00Z', '2026-03-01T00:00:00Z', 4),
    '1 Jan 2020, 1 Jan 2022, 1 Jan 2024, 1 Jan',
  )
})

test('a day that begins at one o’clock, because clocks skip its midnight, has its date', (context) => {
  const before = process.env['TZ']
  context.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  process.env['TZ'] = 'America/Santiago'
  const santiago = new Times(false, () => Date.UTC(2026, 10, 21))
  const ticks = (from: string, to: string, most: number): string =>
    timeTicks(santiago, Date.parse(from), Date.parse(to), most)
      .map(({ words }) => words)
      .join(', ')
  const days = '5 Sept, 12:00, 6 Sept, 12:00, 7 Sept, 12:00'
  assert.equal(ticks('2026-09-05T00:00:00', '2026-09-07T20:00:00', 6), days)
  assert.equal(ticks('2026-09-05T00:00:00', '2026-09-08T20:00:00', 4), '5 Sept, 6 Sept, 7 Sept, 8 Sept')
  assert.equal(ticks('2026-09-05T22:30:00', '2026-09-06T03:30:00', 5), '23:00, 6 Sept, 02:00, 03:00')
  assert.equal(ticks('2026-09-05T17:00:00', '2026-09-06T09:30:00', 5), '20:00, 6 Sept, 04:00, 08:00')
})

test('never more than there is room for, however long', () => {
  for (const days of [0.001, 0.1, 1, 3, 20, 29, 100, 400, 5000]) {
    const toMs = at('01T00:00:00') + days * 86_400_000
    const ticks = timeTicks(times, at('01T00:00:00'), toMs, 5)
    assert.ok(ticks.length >= 1 && ticks.length <= 6, `${days} days: ${ticks.length}`)
    assert.ok(ticks.every(({ ms }) => ms >= at('01T00:00:00') && ms < toMs))
  }
})
