import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseIsoInstant, parseIsoTime } from './iso-instant.ts'

const at = Date.UTC(2026, 10, 21, 4, 30)
const good: readonly [text: string, instantMs: number][] = [
  ['2026-11-21T04:30:00Z', at],
  ['2026-11-21T04:30Z', at],
  ['2026-11-21t04:30:00z', at],
  ['2026-11-21T04:30:00.250Z', at + 250],
  ['2026-11-21T04:30:00.000500Z', at + 0.5],
  ['2026-11-21T05:30:00+01:00', at],
  ['2026-11-21T05:30:00 01:00', at],
  ['2026-11-21T10:15:00+0545', at],
  ['2026-11-21T01:00:00-03:30', at],
  ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
  ['2026-11-21', Date.UTC(2026, 10, 21)],
  ['2026-11-21T04:30', at],
  ['2026-11-21T04:30:00.250000', at + 250],
  ['0001-01-01T00:00:00Z', Date.parse('0001-01-01T00:00:00Z')],
]
for (const [text, instantMs] of good) test(text, () => assert.equal(parseIsoInstant(text), instantMs))

const bad =
  `|now|2026-11-21T|2026-11-21Z|2026-11-21T04|2026-02-30|20261121T043000Z|2026-11-21 04:30:00Z|1795233600
2026-02-29T00:00:00Z|2026-13-01T00:00:00Z|2026-00-10T00:00:00Z|2026-11-31T00:00:00Z|2026-11-00T00:00:00Z
2026-11-21T24:00:00Z|2026-11-21T04:60:00Z|2026-11-21T04:30:60Z|2026-11-21T04:30:00+24:00|2026-11-21T04:30:00+01
2026-11-21T04:30:00+01:60| 2026-11-21T04:30:00Z|2026-11-21T04:30:00Z |2026-11-21T04:30:00ZZ|2026-11-21T04:30:00,5Z
+02026-11-21T04:30:00Z|2026-11-21T04:30:00.Z`.split(/[|\n]/)
for (const text of bad) test(`not ${JSON.stringify(text)}`, () => assert.equal(parseIsoInstant(text), null))

test('without Z or an offset it is a local time', () => {
  for (const text of ['2026-11-21', '2026-11-21T04:30:00']) assert.equal(parseIsoTime(text)?.isLocal, true)
  for (const text of ['2026-11-21T04:30Z', '2026-11-21T04:30-00:00'])
    assert.equal(parseIsoTime(text)?.isLocal, false)
})

test('every instant is read as it is written', () => {
  const property = fc.property(
    fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
    (date) => {
      assert.equal(parseIsoInstant(date.toISOString()), date.getTime())
    },
  )
  fc.assert(property)
})
