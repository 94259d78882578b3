import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimeFrame } from '../charts/time-frame.ts'
import type { Overview } from '../../src/api/overview.ts'
import { slotPanels } from './slot-charts.ts'

const frame: TimeFrame = { fromMs: 0, toMs: 120_000, startsMs: [0, 60_000], bucketMs: 60_000 }

/** An idle minute, and then a minute that the gateway has not reported yet. */
const answer = (longestWaitMs: number): Overview =>
  ({
    buckets: { start_s: [0, 60], queue_n: [0, 30], queue_p95_ms: [null, longestWaitMs] },
    totals: { queue_ms: { n: 30, p95: longestWaitMs, max: longestWaitMs } },
    slots: {
      bucket_s: 60,
      start_s: [0, 60],
      active_max: [0, null],
      queued_max: [0, null],
      limit: [4, null],
      at_limit_share: [0, null],
      at_limit_share_total: 0,
      gaps: [],
    },
  }) as unknown as Overview

const values = (longestWaitMs: number): unknown[] =>
  slotPanels(answer(longestWaitMs), frame).map(({ figure }) => figure?.value.replaceAll(/\s/g, ' '))

test('where calls waited, slots and queue of a minute that is not known are unknown, not empty', () => {
  assert.deepEqual(values(18_700), ['–', '–', '–', '18.7 s'])
})

test('where nobody waited, the slots in use alone are plotted, and say so', () => {
  assert.deepEqual(values(0.2), ['0 of 4'])
  assert.equal(slotPanels(answer(0.2), frame)[0]?.figure?.words, 'peak slots in use · no waiting')
})

test('waits are out of the ordinary where all slots were in use for a twentieth of the time', () => {
  const { buckets, totals, slots } = answer(1500)
  const telling = (share: number): unknown[] => {
    const busy = { ...slots, active_max: [4, 4], queued_max: [9, 3], at_limit_share_total: share }
    const panels = slotPanels({ buckets, totals, slots: busy } as unknown as Overview, frame)
    return panels.map(({ figure, series }) => [figure?.isTelling ?? false, series.at(-1)?.colour])
  }
  assert.deepEqual(telling(0.001), [
    [false, 'p50'],
    [false, 'edge'],
    [false, 'edge'],
  ])
  assert.deepEqual(telling(0.05), [
    [false, 'p50'],
    [true, 'edge'],
    [true, 'queue'],
    [true, 'queue'],
  ])
})

test('slots of several upstreams are held against the limit of none', () => {
  const { buckets, totals, slots } = answer(0.2)
  const figureOf = (active: readonly number[], isOfAll: boolean): unknown => {
    const busy = { ...slots, active_max: active, limit: [4, 4] }
    const [first] = slotPanels({ buckets, totals, slots: busy } as unknown as Overview, frame, isOfAll)
    return [first?.figure?.value, first?.series.map(({ key }) => key)]
  }
  assert.deepEqual(figureOf([3, 2], false), ['3 of 4', ['limit', 'active']])
  assert.deepEqual(figureOf([3, 2], true), ['3', ['active']])
  assert.deepEqual(figureOf([3, 6], false), ['6', ['active']])
})

test('the most slots in use are told with the limit of that moment', () => {
  const { buckets, totals, slots } = answer(0.2)
  const changed = { ...slots, active_max: [4, 3], limit: [4, 5] }
  const [first] = slotPanels({ buckets, totals, slots: changed } as unknown as Overview, frame)
  assert.equal(first?.figure?.value, '4 of 4')
})
