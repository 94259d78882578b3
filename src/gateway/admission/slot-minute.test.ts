import assert from 'node:assert/strict'
import { it } from 'node:test'
import { SlotMinute } from './slot-minute.ts'

it('SlotMinute counts the time at the limit', () => {
  let nowMs = 0
  const slots = new SlotMinute(() => nowMs)
  slots.changed(false)
  nowMs = 1000
  slots.changed(true)
  nowMs = 2000
  slots.changed(true)
  nowMs = 5500.4
  assert.deepEqual(slots.counts(2, false), { atLimitMs: 4500, admitted: 2 })
  slots.changed(false)
  nowMs = 60_000
  assert.deepEqual(slots.counts(2, true), { atLimitMs: 4500, admitted: 2 })
})

it('SlotMinute begins a minute with the state that the last one ended in', () => {
  let nowMs = 50_000
  const slots = new SlotMinute(() => nowMs)
  slots.changed(true)
  nowMs = 60_000
  assert.deepEqual(slots.counts(4, true), { atLimitMs: 10_000, admitted: 4 })
  nowMs = 120_000
  assert.deepEqual(slots.counts(4, true), { atLimitMs: 60_000, admitted: 0 })
  nowMs = 121_000
  slots.changed(false)
  nowMs = 180_000
  assert.deepEqual(slots.counts(9, true), { atLimitMs: 1000, admitted: 5 })
  assert.deepEqual(slots.counts(9, true), { atLimitMs: 0, admitted: 0 })
})

it('SlotMinute never finds more than a minute in a minute', () => {
  let nowMs = 0
  const slots = new SlotMinute(() => nowMs)
  slots.changed(true)
  nowMs = 60_018
  assert.equal(slots.counts(1, true).atLimitMs, 60_000)
})
