import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { bucketEdges, bucketWidthS } from './chart-buckets.ts'
import { ZonedTime } from '../lib/zoned-time.ts'
import { draws } from '../../test/support/draws.ts'

const hourS = 3600
const widths: readonly [rangeS: number, widthS: number][] = [
  [10 * 60, 10],
  [30 * 60, 30],
  [hourS, 60],
  [6 * hourS, 300],
  [24 * hourS, 900],
  [48 * hourS, hourS],
  [7 * 24 * hourS, 2 * hourS],
  [25 * 24 * hourS, 6 * hourS],
  [90 * 24 * hourS, 24 * hourS],
  [365 * 24 * hourS, 7 * 24 * hourS],
]
for (const [rangeS, widthS] of widths) {
  test(`${rangeS} s are told in buckets of ${widthS} s`, () => {
    assert.equal(bucketWidthS(0, rangeS * 1000), widthS)
    assert.equal(bucketWidthS(0, rangeS * 1000, 900), Math.max(widthS, 900))
  })
}

test('six hours begin at local midnight, six, noon and six, across a change of the clocks', () => {
  const zone = new ZonedTime('Europe/Berlin')
  const noonMs = Date.parse('2026-10-24T12:00:00Z')
  const keys = bucketEdges(zone, 6 * hourS, noonMs, noonMs + 24 * 3_600_000).map((edge) =>
    zone.key('hour', edge),
  )
  const before = ['2026-10-24T12:00:00+02:00', '2026-10-24T18:00:00+02:00', '2026-10-25T00:00:00+02:00']
  const after = ['2026-10-25T06:00:00+01:00', '2026-10-25T12:00:00+01:00', '2026-10-25T18:00:00+01:00']
  assert.deepEqual(keys, [...before, ...after])
})

test('whatever the zone and the range, there are few buckets, and they hold all of it', () => {
  const property = fc.property(
    fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/Sao_Paulo'),
    fc.integer({ min: Date.UTC(2012, 0, 1), max: Date.UTC(2036, 0, 1) }),
    fc.oneof(
      fc.integer({ min: 1, max: 3_600_000 }),
      fc.integer({ min: 1, max: 90 * 86_400_000 }),
      fc.integer({ min: 1, max: 2 ** 39 }),
    ),
    (name, fromMs, lengthMs) => {
      const toMs = fromMs + lengthMs
      const edges = bucketEdges(new ZonedTime(name), bucketWidthS(fromMs, toMs), fromMs, toMs)
      assert.ok(edges.length >= 2 && edges.length <= 103, `${edges.length} edges`)
      assert.ok(edges[0]! <= fromMs && edges[1]! > fromMs)
      assert.ok(edges.at(-1)! >= toMs && edges.at(-2)! < toMs)
      assert.ok(edges.every((edge, index) => index === 0 || edge > edges[index - 1]!))
    },
  )
  fc.assert(property, { numRuns: draws(300) })
})
