import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overview } from '../../src/api/overview.ts'
import type { ChartSeries } from '../charts/chart-series.ts'
import { defaultAddress } from '../data/page-address.ts'
import { earlierBounds, earlierPath, isRecorded, withEarlier } from './earlier.ts'

const hourMs = 3_600_000
const iso = (ms: number): string => new Date(ms).toISOString()

test('an earlier time is as long, and lies just before, a day or a week back', () => {
  const bounds = { fromMs: 1000 * hourMs, toMs: 1006 * hourMs }
  assert.deepEqual(earlierBounds(bounds, 'previous'), { fromMs: 994 * hourMs, toMs: 1000 * hourMs })
  assert.deepEqual(earlierBounds(bounds, 'day'), { fromMs: 976 * hourMs, toMs: 982 * hourMs })
  assert.deepEqual(earlierBounds(bounds, 'week'), { fromMs: 832 * hourMs, toMs: 838 * hourMs })
  const address = { ...defaultAddress, range: { last: '1h' }, models: ['m'] } as const
  assert.equal(
    decodeURIComponent(earlierPath(address, 'day', 'UTC', Date.UTC(2026, 10, 20, 12, 0, 0, 345))),
    '/api/overview?from=2026-11-19T11:00:00.000Z&to=2026-11-19T12:00:00.000Z&model=m&tz=UTC',
  )
})

/** An hour in buckets of 15 minutes. The earlier period's buckets start a little later or sooner. */
const overview = (fromMs: number, offsetS: number): Overview =>
  ({
    from: iso(fromMs),
    to: iso(fromMs + hourMs),
    bucket_s: 900,
    recorded_from: iso(10 * hourMs),
    buckets: { start_s: [0, 900, 1800, 2700].map((startS) => fromMs / 1000 + startS + offsetS) },
  }) as unknown as Overview

test('its values lie under the buckets of the same place in time', () => {
  const now = overview(100 * hourMs, 0)
  const series: ChartSeries = {
    key: 'p95',
    words: 'p95',
    colour: 'accent',
    kind: 'line',
    values: [1, 2, null, 4],
    show: String,
  }
  const part = { frame: {}, series: [series] } as never
  for (const offsetS of [0, -300, 300]) {
    const panel = withEarlier(part, [now, overview(99 * hourMs, offsetS)], series)
    assert.equal(panel.series.map(({ key }) => key).join(' '), 'earlier p95')
    assert.deepEqual(panel.series[0]?.values, [1, 2, null, 4], `${offsetS} s beside`)
  }
})

test('it compares with nothing if recording began within it, or after', () => {
  assert.equal(isRecorded(overview(10 * hourMs, 0)), true)
  assert.equal(isRecorded(overview(9.5 * hourMs, 0)), false)
  assert.equal(isRecorded({ ...overview(0, 0), recorded_from: null }), false)
})
