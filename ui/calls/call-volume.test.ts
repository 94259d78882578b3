import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type PageAddress, defaultAddress } from '../data/page-address.ts'
import { type CallVolume, type VolumeGroup, callVolume, volumePath } from './call-volume.ts'

const nowMs = Date.parse('2026-11-21T12:02:00Z')

const volumeOf = (
  change: Partial<PageAddress>,
  zone: string,
  groups: readonly VolumeGroup[] = [],
): CallVolume => callVolume(volumePath({ ...defaultAddress, ...change }, nowMs, zone), nowMs, groups)

test('six hours are told in steps of five minutes of the local clock', () => {
  const address = { ...defaultAddress, range: { last: '6h' } } as const
  assert.match(volumePath(address, nowMs, 'Europe/Berlin'), /&group_by=minute&tz=Europe%2FBerlin$/)
  const groups = [
    { key: '2026-11-21T07:02:00+01:00', calls: 1, errors: 0 },
    { key: '2026-11-21T07:05:00+01:00', calls: 3, errors: 1 },
    { key: '2026-11-21T07:09:00+01:00', calls: 4, errors: 0 },
    { key: '2026-11-21T07:10:00+01:00', calls: 5, errors: 0 },
  ]
  const { stepWords, calls, errors } = volumeOf(address, 'Europe/Berlin', groups)
  assert.equal(stepWords, '5 minutes')
  assert.deepEqual(calls.slice(0, 4), [1, 7, 5, 0])
  assert.deepEqual(errors.slice(0, 4), [0, 1, 0, 0])
})

test('the longer the range, the wider the buckets, and never too many of them', () => {
  const words = (['1h', '6h', '24h', '7d', '30d'] as const).map((last) => {
    const { frame, stepWords } = volumeOf({ range: { last } }, 'UTC')
    assert.ok(frame.startsMs.length >= 24 && frame.startsMs.length <= 220, last)
    return stepWords
  })
  assert.deepEqual(words, ['minute', '5 minutes', 'hour', 'hour', 'day'])
})

test('no call is lost, wherever the range is cut', () => {
  const hours = fc.array(fc.nat(1000), { minLength: 9, maxLength: 216 })
  fc.assert(
    fc.property(hours, fc.nat(3_599_999), (counts, cutMs) => {
      const firstMs = Date.parse('2026-11-01T00:00Z')
      const toMs = firstMs + counts.length * 3_600_000
      const range = { last: null, fromMs: firstMs + cutMs, toMs } as const
      const groups = counts.map((calls, index) => ({
        key: new Date(firstMs + index * 3_600_000).toISOString(),
        calls,
        errors: 0,
      }))
      const { calls } = volumeOf({ utc: true, range }, 'UTC', groups)
      assert.equal(
        calls.reduce((sum, calls) => sum + calls, 0),
        counts.reduce((sum, calls) => sum + calls, 0),
      )
    }),
  )
})
