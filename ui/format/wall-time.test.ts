import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { instantOfWallTime, wallTimeOf } from './wall-time.ts'

/** Returns a function that sets the reader's zone. */
function inZone(t: TestContext): (zone: string) => void {
  const before = process.env['TZ']
  t.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  return (zone) => {
    process.env['TZ'] = zone
  }
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

test('a time on the wall is an instant of its zone', (t) => {
  const live = inZone(t)
  const cases: readonly (readonly [text: string, zone: string, instant: string | null])[] = [
    ['2026-11-21T14:05', 'UTC', '2026-11-21T14:05:00.000Z'],
    ['2026-11-21T14:05', 'Europe/Berlin', '2026-11-21T13:05:00.000Z'],
    ['2026-07-01T14:05', 'Europe/Berlin', '2026-07-01T12:05:00.000Z'],
    ['2026-11-21T14:05', 'Asia/Kathmandu', '2026-11-21T08:20:00.000Z'],
    ['2026-11-21T14:05', 'America/New_York', '2026-11-21T19:05:00.000Z'],
    ['2026-11-21T00:30', 'Pacific/Kiritimati', '2026-11-20T10:30:00.000Z'],
    // Clocks go forward, so this hour does not exist.
    ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-03-29T01:59', 'Europe/Berlin', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29T03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    // Clocks go back, so this hour occurs twice.
    ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    ['2026-11-21T14:05:09', 'UTC', '2026-11-21T14:05:09.000Z'],
    ['', 'UTC', null],
    ['2026-11-21', 'UTC', null],
    ['2026-13-41T14:05', 'UTC', null],
    ['2026-11-21T14:05Z', 'UTC', null],
  ]
  for (const [text, zone, instant] of cases) {
    live(zone)
    assert.equal(iso(instantOfWallTime(text, false)), instant, text)
    live('Asia/Tokyo')
    if (zone === 'UTC') assert.equal(iso(instantOfWallTime(text, true)), instant, text)
  }
})

test('what is shown is what is meant', (t) => {
  const live = inZone(t)
  const minutes = fc.integer({ min: 1, max: 60_000_000 }).map((minute) => minute * 60_000)
  const zones = fc.constantFrom(
    'UTC',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Kiritimati',
    'Asia/Tokyo',
  )
  fc.assert(
    fc.property(minutes, zones, (ms, zone) => {
      live(zone)
      for (const utc of [false, true]) {
        const text = wallTimeOf(ms, utc)
        assert.equal(wallTimeOf(instantOfWallTime(text, utc) ?? Number.NaN, utc), text)
      }
    }),
  )
})
