import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { ZonedTime, isTimeZone, ownTimeZone } from './zoned-time.ts'
import { draws } from '../../test/support/draws.ts'

const at = (text: string): number => Date.parse(text)
const hourMs = 3_600_000
const [berlin, lordHowe, kathmandu, saoPaulo] = [
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Sao_Paulo',
]
const others = [
  'UTC',
  'Asia/Kolkata',
  'America/St_Johns',
  'America/Havana',
  'Africa/Casablanca',
  'Pacific/Apia',
]
const zones = [berlin, lordHowe, kathmandu, saoPaulo, ...others]

function keysOf(zone: string, unit: 'minute' | 'hour' | 'day', from: string, to: string): string {
  const time = new ZonedTime(zone)
  const edges = time.edges(unit, at(from), at(to)).slice(0, -1)
  return edges.map((edge) => time.key(unit, edge)).join(' ')
}

/** Hours from one instant to another, by their keys. */
const hours = `
  Europe/Berlin: come twice  2026-10-24T23:00:00Z 2026-10-25T03:00:00Z
    2026-10-25T01:00:00+02:00 2026-10-25T02:00:00+02:00 2026-10-25T02:00:00+01:00 2026-10-25T03:00:00+01:00
  Europe/Berlin: come not at all  2026-03-29T00:00:00Z 2026-03-29T02:00:00Z
    2026-03-29T01:00:00+01:00 2026-03-29T03:00:00+02:00
  Australia/Lord_Howe: come for half an hour again  2026-04-04T14:00:00Z 2026-04-04T16:30:00Z
    2026-04-05T01:00:00+11:00 2026-04-05T01:30:00+10:30 2026-04-05T02:00:00+10:30
  Australia/Lord_Howe: are cut by half an hour  2026-10-03T14:30:00Z 2026-10-03T17:00:00Z
    2026-10-04T01:00:00+10:30 2026-10-04T02:30:00+11:00 2026-10-04T03:00:00+11:00
  Asia/Kathmandu: begin at a quarter to in UTC  2026-11-21T04:20:00Z 2026-11-21T04:21:00Z
    2026-11-21T10:00:00+05:45
  UTC: are named by their start  2026-11-21T04:20:00Z 2026-11-21T06:00:00Z
    2026-11-21T04:00:00Z 2026-11-21T05:00:00Z
`
for (const [, zone = '', what, from = '', to = '', keys] of hours.matchAll(
  /^ {2}(\S+): (.+?) {2}(\S+) (\S+)\n +(.+)$/gm,
))
  it(`hours in ${zone} ${what}`, () => assert.equal(keysOf(zone, 'hour', from, to), keys))

describe('days', () => {
  const lengths: readonly [zone: string, from: string, hours: readonly number[]][] = [
    ['Europe/Berlin', '2026-03-28T12:00:00Z', [24, 23, 24]],
    ['Europe/Berlin', '2026-10-24T12:00:00Z', [24, 25, 24]],
    ['Australia/Lord_Howe', '2026-04-04T00:00:00Z', [24, 24.5, 24]],
    ['Australia/Lord_Howe', '2026-10-03T00:00:00Z', [24, 23.5, 24]],
    ['Asia/Kolkata', '2026-10-03T00:00:00Z', [24, 24, 24]],
    // At midnight the clock goes on to one; in autumn it goes back to eleven.
    ['America/Sao_Paulo', '2018-11-03T12:00:00Z', [24, 23, 24]],
    ['America/Sao_Paulo', '2018-02-17T12:00:00Z', [25, 24, 24]],
    ['America/Havana', '2025-11-01T12:00:00Z', [24, 25, 24]],
    // Crossed the date line: 30 December 2011 never was.
    ['Pacific/Apia', '2011-12-29T12:00:00Z', [24, 24, 24]],
  ]
  for (const [zone, from, hours] of lengths) {
    it(`last ${hours.join(', ')} hours in ${zone} around ${from.slice(0, 10)}`, () => {
      const edges = new ZonedTime(zone).edges('day', at(from), at(from) + 72 * hourMs).slice(0, 4)
      const lengths = edges.slice(1).map((edge, index) => (edge - (edges[index] ?? 0)) / hourMs)
      assert.deepEqual(lengths, hours)
    })
  }
  it('are named by their date', () => {
    const keys = keysOf('Pacific/Apia', 'day', '2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z')
    assert.equal(keys, '2011-12-29 2011-12-31 2012-01-01')
  })
})

const named = (zone: string): ((instantMs: number) => { date: string; hour: string; minute: string }) => {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  })
  return (instantMs) => {
    const part = Object.fromEntries(
      format.formatToParts(instantMs).map(({ type, value }) => [type, value]),
    ) as Record<string, string>
    const date = `${part['year']}-${part['month']}-${part['day']}`
    const hour = `${date} ${part['hour']} ${part['timeZoneName']}`
    return { date, hour, minute: `${hour} ${part['minute']}` }
  }
}

describe('whatever the zone and the time', () => {
  for (const zone of zones) {
    it(`the edges of ${zone} are where the local name changes`, () => {
      const time = new ZonedTime(zone)
      const nameOf = named(zone)
      const property = fc.property(
        fc.integer({ min: at('2012-02-01T00:00:00Z'), max: at('2038-01-01T00:00:00Z') }),
        fc.integer({ min: 1, max: 100 * hourMs }),
        fc.constantFrom('hour' as const, 'day' as const),
        (fromMs, lengthMs, unit) => {
          const nameAt = (ms: number): string => nameOf(ms)[unit === 'day' ? 'date' : 'hour']
          const edges = time.edges(unit, fromMs, fromMs + lengthMs)
          assert.ok((edges[0] ?? 0) <= fromMs && (edges[1] ?? 0) > fromMs)
          assert.ok((edges.at(-1) ?? 0) >= fromMs + lengthMs && (edges.at(-2) ?? 0) < fromMs + lengthMs)
          for (const [index, edge] of edges.entries()) {
            assert.notEqual(nameAt(edge - 1), nameAt(edge), new Date(edge).toISOString())
            const next = edges[index + 1]
            if (next === undefined) continue
            assert.ok(next > edge)
            for (const part of [0.25, 0.5, 0.75]) {
              assert.equal(nameAt(edge + (next - edge) * part), nameAt(edge))
            }
            assert.equal(nameAt(next - 1), nameAt(edge))
          }
        },
      )
      fc.assert(property, { numRuns: draws(60) })
    })
  }
  it('the time to the changes of the clocks is counted right', () => {
    for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo']) {
      const nameOf = named(zone)
      const time = new ZonedTime(zone)
      for (let day = at('2017-01-01T00:00:00Z'); day < at('2019-01-01T00:00:00Z'); day += 24 * hourMs) {
        const edges = time.edges('minute', day, day + 60_000)
        assert.deepEqual(edges, [day, day + 60_000])
        const [start = 0] = time.edges('day', day, day + 1)
        assert.notEqual(nameOf(start).date, nameOf(start - 1).date)
      }
    }
  })
})

describe('a time on a wall', () => {
  const cases: readonly [zone: string, local: string, instant: string][] = [
    ['UTC', '2026-11-21T00:00:00', '2026-11-21T00:00:00Z'],
    ['Europe/Berlin', '2026-11-21T00:00:00', '2026-11-20T23:00:00Z'],
    ['Europe/Berlin', '2026-03-29T00:00:00', '2026-03-28T23:00:00Z'],
    // Twice, and never.
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00Z'],
    ['Europe/Berlin', '2026-03-29T02:30:00', '2026-03-29T01:30:00Z'],
    ['America/Sao_Paulo', '2018-11-04T00:00:00', '2018-11-04T03:00:00Z'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00Z'],
    ['Asia/Kathmandu', '2026-11-21T04:30:00', '2026-11-20T22:45:00Z'],
  ]
  for (const [zone, local, instant] of cases) {
    it(`${local} in ${zone} is ${instant}`, () => {
      const found = new ZonedTime(zone).instantOf(Date.parse(`${local}Z`))
      assert.equal(new Date(found).toISOString(), instant.replace('Z', '.000Z'))
    })
  }
})

it('keys of an hour are the instant that they name', () => {
  const property = fc.property(
    fc.constantFrom(...zones),
    fc.integer({ min: at('2012-02-01T00:00:00Z'), max: at('2038-01-01T00:00:00Z') }),
    (zone, instantMs) => {
      const time = new ZonedTime(zone)
      const start = time.startOf('hour', instantMs)
      assert.equal(Date.parse(time.key('hour', start)), start)
    },
  )
  fc.assert(property, { numRuns: draws(300) })
})

it('no more units are listed than asked for', () => {
  assert.equal(new ZonedTime('UTC').edges('minute', 0, 1e12, 5000).length, 5001)
})

it('zones are known by name', () => {
  for (const zone of zones) assert.ok(isTimeZone(zone), zone)
  for (const text of ['', 'Mars/Base', 'Europe/Berlin; DROP', 'x'.repeat(5000), '\u0000'])
    assert.equal(isTimeZone(text), false, text.slice(0, 30))
})

for (const [set, zone] of [
  ['', 'UTC'],
  ['Nowhere/Town', 'UTC'],
  ['UTC+3', '-03:00'],
  ['GMT-2', '+02:00'],
  ['Europe/Berlin', 'Europe/Berlin'],
] as const) {
  it(`with TZ=${set} the zone of this machine is ${zone}`, () => {
    const { TZ: before } = process.env
    process.env['TZ'] = set
    try {
      assert.equal(ownTimeZone(), zone)
      const now = Date.now()
      assert.equal(new ZonedTime(zone).offsetMs(now), 0 - 60_000 * new Date(now).getTimezoneOffset())
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })
}
