import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overview, OverviewEvent } from '../../src/api/overview.ts'
import { marksOf, outagesOf, perBucket, slotColumns, youngRange } from './overview-time.ts'

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

function event(at: string, kind: string, detail: string | null = null): OverviewEvent {
  return { at, kind, instance: 'x', detail }
}

function marks(events: readonly OverviewEvent[], limits: Slots['limit'] = []): ReturnType<typeof marksOf> {
  const { slots } = answer(
    limits.map(() => 1),
    { limit: limits },
  )
  return marksOf({ events, slots }, 1000)
}

test('a mark has a word or two: of a limit from what to what, of a note its first words', () => {
  const at = new Date(125_000).toISOString()
  const shortOf = (kind: string, detail: string, limits: Slots['limit'] = []): unknown =>
    marks([event(at, kind, detail)], limits)[0]?.short
  assert.equal(shortOf('config', '{"max_concurrent":8}', [5, 5, 8]), 'limit 5→8')
  assert.equal(shortOf('config', '{"max_concurrent":8}'), 'limit 8')
  assert.equal(shortOf('config', '{"slot_cooldown_ms":8}', [5, 5, 5]), 'setting')
  assert.equal(shortOf('config', 'cut off {'), 'setting')
  assert.equal(shortOf('note', 'deployed v2'), 'deployed v2')
  assert.equal(shortOf('note', 'deployed the second version'), 'deployed the…')
  assert.equal(shortOf('note', 'x'.repeat(200)), `${'x'.repeat(18)}…`)
})

test('what happens within a moment is one mark', () => {
  const [one, other] = ['2026-11-21T06:00:00.000Z', '2026-11-21T07:00:00.000Z']
  const later = '2026-11-21T07:00:01.000Z'
  assert.deepEqual(
    marks([event(other, 'start'), event(later, 'new kind'), event(one, 'stop'), event(one, 'stop')]),
    [
      { ms: Date.parse(one), words: 'Gateway stopped', short: 'stop' },
      { ms: Date.parse(other), words: 'Gateway started, new kind', short: '2 events' },
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
  const widths = [10, 60, 900, 7200, 86_400, 604_800].map(perBucket)
  assert.equal(widths.join(', '), '10 s, minute, 15 min, 2 h, day, week')
})

const nowMs = Date.UTC(2026, 10, 21, 14)

/** Returns the range if the first call was made this many minutes ago. */
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
