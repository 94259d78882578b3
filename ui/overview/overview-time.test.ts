import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overview } from '../../src/api/overview.ts'
import { bucketWords, marksOf, outagesOf, slotColumns, youngRange } from './overview-time.ts'

type Slots = Overview['slots']

function answer(
  active: readonly (number | null)[],
  rest: Partial<Slots> = {},
  starts?: readonly number[],
): Overview {
  const start_s = active.map((_, index) => index * 60)
  const slots: Slots = {
    bucket_s: 60,
    start_s,
    active_max: active,
    queued_max: active.map((value) => value && value * 2),
    at_limit_share: active,
    at_limit_share_total: null,
    limit: active.map((value) => value && 4),
    gaps: [],
    ...rest,
  }
  return {
    from: new Date(0).toISOString(),
    to: new Date(active.length * 60_000).toISOString(),
    slots,
    buckets: { start_s: starts ?? start_s },
  } as unknown as Overview
}

test('times without a gateway are those that the dashboard names', () => {
  assert.deepEqual(outagesOf(answer([1, null, null, 2], { gaps: [{ from_s: 70, to_s: 90 }] })), [
    { fromMs: 70_000, toMs: 90_000 },
  ])
})

test('what happens within a moment is one mark', () => {
  const event = (at: string, kind: string): Parameters<typeof marksOf>[0][number] => ({
    at,
    kind,
    instance: 'x',
    detail: '{"max_concurrent":4}',
  })
  const [one, other] = ['2026-11-21T06:00:00.000Z', '2026-11-21T07:00:00.000Z']
  const later = '2026-11-21T07:00:01.000Z'
  assert.deepEqual(
    marksOf([event(other, 'start'), event(later, 'new kind'), event(one, 'stop'), event(one, 'stop')], 1000),
    [
      { ms: Date.parse(one), words: 'Gateway stopped' },
      { ms: Date.parse(other), words: 'Gateway started, new kind' },
    ],
  )
})

test('slots are told by the minute: narrower buckets show the minute that they lie in', () => {
  const { active, queued, limit } = slotColumns(answer([3, null], {}, [0, 30, 60, 90]))
  assert.deepEqual(active, [3, 3, null, null])
  assert.deepEqual(queued, [6, 6, null, null])
  assert.deepEqual(limit, [4, 4, null, null])
})

test('widths of buckets', () => {
  assert.deepEqual([10, 60, 900, 7200, 86_400].map(bucketWords), [
    '10\u202fs',
    '1\u202fmin',
    '15\u202fmin',
    '2\u202fh',
    '1\u202fday',
  ])
})

const nowMs = Date.UTC(2026, 10, 21, 14)

/** Where the first call was made that many minutes ago. */
function since(minutesAgo: number): ReturnType<typeof youngRange> {
  const recorded_from = new Date(nowMs - minutesAgo * 60_000).toISOString()
  return youngRange({ recorded_from, to: new Date(nowMs).toISOString() })
}

test('calls of the last hours alone are shown in as many', () => {
  assert.deepEqual([15, 60, 75, 360].map(since), ['1h', '1h', '6h', '6h'])
})

test('a day stays a day where calls came earlier, or none did', () => {
  assert.equal(since(375), null)
  assert.equal(youngRange({ recorded_from: null, to: new Date(nowMs).toISOString() }), null)
})
