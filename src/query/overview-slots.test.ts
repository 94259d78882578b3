import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ZonedTime } from '../lib/zoned-time.ts'
import { overviewSlots } from './overview-slots.ts'
import { emptyStore } from './query-service.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2026, 10, 21, 6, 0, 15)
const nowMinute = Math.floor(nowMs / minuteMs)

test('of the running minute only what has passed counts', async () => {
  const range = { fromMs: (nowMinute - 1) * minuteMs, toMs: nowMs }
  const use = [nowMinute - 1, nowMinute].map((minute) => ({
    minutes: 1,
    activeMax: 4,
    queuedMax: 2,
    atLimitMs: minute === nowMinute ? 15_000 : 0,
    firstMinute: minute,
    lastMinute: minute,
    isOne: true,
  }))
  const history = { ...emptyStore.history, slotUse: async () => use }
  const slots = await overviewSlots(history, new ZonedTime('UTC'), range, nowMs)
  assert.deepEqual(slots.at_limit_share, [0, 1])
  assert.equal(slots.at_limit_share_total, 0.2)
})
