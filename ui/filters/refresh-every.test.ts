import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LastRange, lastRanges } from '../data/page-address.ts'
import { refreshEveryMs } from './refresh-every.ts'

test('short ranges are asked for often, long ones seldom, fixed ones once', () => {
  const every = (Object.keys(lastRanges) as LastRange[]).map((last) => [last, refreshEveryMs({ last })])
  assert.deepEqual(every, [
    ['1h', 10_000],
    ['6h', 30_000],
    ['24h', 30_000],
    ['7d', 300_000],
    ['30d', 300_000],
  ])
  assert.equal(refreshEveryMs({ last: null, fromMs: 1, toMs: 2 }), null)
})
