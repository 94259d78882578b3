import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { formatCost, formatCount, formatDuration, formatSpeed, formatTime } from './call-format.ts'

function table<T>(format: (value: T) => string, rows: readonly (readonly [T, string])[]): void {
  for (const [value, text] of rows) assert.equal(format(value), text)
}

it('formatDuration chooses the unit', () => {
  table(formatDuration, [
    [null, '–'],
    [0, '0 ms'],
    [0.42, '0.4 ms'],
    [9.94, '9.9 ms'],
    [9.96, '10 ms'],
    [820.4, '820 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [3214.5, '3.2 s'],
    [59_949, '59.9 s'],
    [59_960, '1m00s'],
    [64_100, '1m04s'],
    [3_599_400, '59m59s'],
    [3_599_600, '1h00m'],
    [7_500_000, '2h05m'],
    [3_600_000 * 30 - 1, '30h00m'],
  ])
})

it('formatDuration fits its column', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 3_600_000 * 99, noNaN: true }), (ms) => {
      assert.ok(formatDuration(ms).length <= 7)
      assert.match(formatDuration(ms), /^(\d+(\.\d)? ms|\d\d?\.\d s|\d\d?m[0-5]\ds|\d\d?h[0-5]\dm)$/)
    }),
  )
})

it('formatCount groups by thousands', () => {
  table(formatCount, [
    [null, '–'],
    [0, '0'],
    [999, '999'],
    [1204, '1,204'],
    [1_048_576, '1,048,576'],
  ])
})

it('formatSpeed shows what counts', () => {
  table(formatSpeed, [
    [null, '–'],
    [7.44, '7.4'],
    [99.96, '100'],
    [245.2, '245'],
  ])
})

it('formatCost keeps two digits of small amounts', () => {
  table(formatCost, [
    [null, '–'],
    [0, '$0'],
    [0.000_000_4, '<$0.000001'],
    [0.000_42, '$0.00042'],
    [0.001, '$0.0010'],
    [0.0373, '$0.037'],
    [0.0999, '$0.10'],
    [0.125, '$0.13'],
    [1.25, '$1.25'],
    [1234.5, '$1,234.50'],
  ])
})

it('formatTime leaves out what is the same as now, in local time', () => {
  const now = new Date(2026, 10, 21, 14, 0, 0).getTime()
  assert.equal(formatTime(new Date(2026, 10, 21, 9, 3, 7).getTime(), now), '09:03:07')
  assert.equal(formatTime(new Date(2026, 10, 20, 23, 59, 59).getTime(), now), '11-20 23:59:59')
  assert.equal(formatTime(new Date(2026, 9, 21, 14, 0, 0).getTime(), now), '10-21 14:00:00')
  assert.equal(formatTime(new Date(2025, 10, 21, 14, 0, 0).getTime(), now), '2025-11-21 14:00:00')
})
