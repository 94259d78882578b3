import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pastMinutes } from './past-minutes.ts'

const minuteMs = 60_000

test('each minute that was over has its most at once, its time at the limit and its calls, and an idle one is there', () => {
  const stays = [
    { cameMs: 10_000, beganMs: 10_000.4, endedMs: 30_000 },
    { cameMs: 20_000, beganMs: 20_000, endedMs: 70_000 },
    // Waits for a slot, and goes on into the second minute.
    { cameMs: 25_000, beganMs: 30_000, endedMs: 90_000 },
    { cameMs: 200_000, beganMs: 200_000, endedMs: 201_000 },
  ]
  const minutes = [...pastMinutes(stays, { fromMs: 1, toMs: 4.5 * minuteMs, slots: 2 })]
  assert.deepEqual(minutes, [
    { minute: 0, activeMax: 2, queuedMax: 1, atLimitMs: 40_000, admitted: 3, dropped: 0 },
    { minute: 1, activeMax: 2, queuedMax: 0, atLimitMs: 10_000, admitted: 0, dropped: 0 },
    { minute: 2, activeMax: 0, queuedMax: 0, atLimitMs: 0, admitted: 0, dropped: 0 },
    { minute: 3, activeMax: 1, queuedMax: 0, atLimitMs: 0, admitted: 1, dropped: 0 },
  ])
})
