import assert from 'node:assert/strict'
import { it } from 'node:test'
import { SlotMinute, SlotTally } from './slot-minute.ts'

it('SlotMinute counts the time at the limit', () => {
  let nowMs = 0
  const slots = new SlotMinute(() => nowMs)
  slots.changed(false)
  nowMs = 1000
  slots.changed(true)
  nowMs = 2000
  slots.changed(true)
  nowMs = 5500.4
  assert.equal(slots.atLimitMs(false), 4500)
  slots.changed(false)
  nowMs = 60_000
  assert.equal(slots.atLimitMs(true), 4500)
})

it('SlotMinute begins a minute with the state that the last one ended in', () => {
  let nowMs = 50_000
  const slots = new SlotMinute(() => nowMs)
  slots.changed(true)
  nowMs = 60_000
  assert.equal(slots.atLimitMs(true), 10_000)
  nowMs = 120_000
  assert.equal(slots.atLimitMs(true), 60_000)
  nowMs = 121_000
  slots.changed(false)
  nowMs = 180_000
  assert.equal(slots.atLimitMs(true), 1000)
  assert.equal(slots.atLimitMs(true), 0)
})

it('SlotMinute never finds more than a minute in a minute', () => {
  let nowMs = 0
  const slots = new SlotMinute(() => nowMs)
  slots.changed(true)
  nowMs = 60_018
  assert.equal(slots.atLimitMs(true), 60_000)
})

it('SlotTally counts each upstream and all together, whose peak is not the sum of peaks', () => {
  const whole = new SlotTally()
  const [one, other] = [new SlotTally(whole), new SlotTally(whole)]
  one.admitted('arrival')
  one.released()
  other.waits('arrival')
  other.waits('back')
  other.waited()
  other.admitted('arrival')
  assert.deepEqual([one.peakActive, other.peakActive, whole.peakActive], [1, 1, 1])
  assert.deepEqual([whole.active, whole.queued, whole.totalAdmitted, whole.totalQueued], [1, 1, 2, 1])
  assert.deepEqual(whole.minute(true), { activeMax: 1, queuedMax: 2, admitted: 2 })
  assert.deepEqual(whole.minute(false), { activeMax: 1, queuedMax: 1, admitted: 0 })
  other.admitted('back')
  assert.deepEqual(whole.minute(true), { activeMax: 2, queuedMax: 1, admitted: 0 })
})
