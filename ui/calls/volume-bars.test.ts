import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { plainAddress } from '../data/page-address.ts'
import { listedBounds } from './calls-question.ts'
import { volumeBars, volumeQuestion } from './volume-bars.ts'

const nowMs = Date.parse('2026-11-21T12:02:00Z')

test('six hours are told in steps of five minutes of the local clock', () => {
  const bounds = listedBounds({ ...plainAddress, range: { last: '6h' } }, nowMs)
  const { path, minutes } = volumeQuestion(plainAddress, bounds, 'Europe/Berlin')
  assert.match(path, /&group_by=minute&tz=Europe%2FBerlin$/)
  const groups = [
    { key: '2026-11-21T07:02:00+01:00', calls: 1, errors: 0 },
    { key: '2026-11-21T07:05:00+01:00', calls: 3, errors: 1 },
    { key: '2026-11-21T07:09:00+01:00', calls: 4, errors: 0 },
    { key: '2026-11-21T07:10:00+01:00', calls: 5, errors: 0 },
  ]
  const at = (clock: string): number => Date.parse(`2026-11-21T${clock}:00Z`)
  assert.deepEqual(volumeBars(groups, minutes, bounds, false), [
    { startMs: at('06:02'), endMs: at('06:05'), calls: 1, errors: 0 },
    { startMs: at('06:05'), endMs: at('06:10'), calls: 7, errors: 1 },
    { startMs: at('06:10'), endMs: nowMs, calls: 5, errors: 0 },
  ])
})

test('days begin at midnight where the reader is, or in UTC', () => {
  const groups = [{ key: '2026-11-20', calls: 1, errors: 0 }]
  const bounds = { fromMs: 0, toMs: nowMs }
  assert.equal(volumeBars(groups, 1, bounds, true)[0]?.startMs, Date.parse('2026-11-20T00:00Z'))
  assert.equal(volumeBars(groups, 1, bounds, false)[0]?.startMs, new Date(2026, 10, 20).getTime())
})

test('bars follow each other to the end of the range, begin in it, and lose no call', () => {
  const hours = fc.array(fc.nat(1000), { minLength: 1, maxLength: 220 })
  fc.assert(
    fc.property(hours, fc.nat(3_599_999), (counts, cutMs) => {
      const firstMs = Date.parse('2026-11-01T00:00Z')
      const bounds = { fromMs: firstMs + cutMs, toMs: firstMs + counts.length * 3_600_000 }
      const groups = counts.map((calls, index) => ({
        key: new Date(firstMs + index * 3_600_000).toISOString(),
        calls,
        errors: 0,
      }))
      const bars = volumeBars(groups, 1, bounds, true)
      assert.equal(bars[0]?.startMs, bounds.fromMs)
      assert.equal(bars.at(-1)?.endMs, bounds.toMs)
      for (const [index, bar] of bars.slice(1).entries()) assert.equal(bar.startMs, bars[index]?.endMs)
      const sum = bars.reduce((sum, { calls }) => sum + calls, 0)
      assert.equal(
        sum,
        counts.reduce((sum, calls) => sum + calls, 0),
      )
    }),
  )
})
