import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthReport } from '../../src/api/health-report.ts'
import { enoughWords, slotsOf, slotsPath, upstreamOf } from './slot-limits.ts'

test('which limit would do, in words', () => {
  const words = (limit: number | null, short: number | null, none: number | null): string =>
    enoughWords({ max_concurrent: limit, short_waits_at: short, no_waits_at: none })
  assert.equal(words(4, null, null), '')
  assert.equal(words(4, 1, 3), '4 slots are enough: with 3 slots, no call would have waited.')
  assert.equal(
    words(4, 3, 9),
    '4 slots keep the p95 wait within 100 ms; with 9 slots, no call would have waited.',
  )
  assert.equal(
    words(null, 6, 9),
    '6 slots would have kept the p95 wait within 100 ms; with 9 slots, no call would have waited.',
  )
})

test('slots are those of the one upstream that is chosen, and a range without an end is asked without one', () => {
  const slots = { max_concurrent: 3, slot_cooldown_ms: 0 }
  const own = { max_concurrent: 5, slot_cooldown_ms: 50 }
  const health = {
    rate_limiter: slots,
    upstreams: [{ name: 'local', rate_limiter: own }],
  } as unknown as HealthReport
  assert.equal(upstreamOf({ upstreams: ['local'] }), 'local')
  assert.equal(upstreamOf({ upstreams: ['local', 'b'] }), 'default')
  assert.equal(slotsOf(health, 'local'), own)
  assert.equal(slotsOf(health, 'gone'), null)
  assert.equal(slotsOf({ ...health, upstreams: undefined } as unknown as HealthReport, 'default'), slots)
  assert.equal(slotsOf(null, 'default'), null)
  assert.equal(
    decodeURIComponent(slotsPath({ range: { last: '1h' }, utc: true }, 'local', own, 3_600_000)),
    '/api/slots?from=1970-01-01T00:00:00.000Z&upstream_name=local&max_concurrent=5&slot_cooldown_ms=50',
  )
  assert.equal(
    decodeURIComponent(
      slotsPath({ range: { last: null, fromMs: 0, toMs: 1000 }, utc: true }, 'default', null, 0),
    ),
    '/api/slots?from=1970-01-01T00:00:00.000Z&to=1970-01-01T00:00:01.000Z',
  )
})
