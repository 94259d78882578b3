import assert from 'node:assert/strict'
import { it } from 'node:test'
import { MinuteFigures } from './minute-figures.ts'

it('MinuteFigures keeps the peaks, and the time at the limit', () => {
  let nowMs = 0
  const figures = new MinuteFigures(() => nowMs)
  figures.changed(1, 0, false)
  nowMs = 1000
  figures.changed(2, 0, true)
  nowMs = 2000
  figures.changed(2, 3, true)
  nowMs = 5500.4
  assert.deepEqual(figures.counts(2, false), { activeMax: 2, queuedMax: 3, atLimitMs: 4500, admitted: 2 })
  figures.changed(1, 0, false)
  nowMs = 60_000
  assert.deepEqual(figures.counts(2, true), { activeMax: 2, queuedMax: 3, atLimitMs: 4500, admitted: 2 })
})

it('MinuteFigures begins a minute with the state that the last one ended in', () => {
  let nowMs = 50_000
  const figures = new MinuteFigures(() => nowMs)
  figures.changed(4, 7, true)
  nowMs = 60_000
  assert.deepEqual(figures.counts(4, true), { activeMax: 4, queuedMax: 7, atLimitMs: 10_000, admitted: 4 })
  nowMs = 120_000
  assert.deepEqual(figures.counts(4, true), { activeMax: 4, queuedMax: 7, atLimitMs: 60_000, admitted: 0 })
  nowMs = 121_000
  figures.changed(0, 0, false)
  nowMs = 180_000
  assert.deepEqual(figures.counts(9, true), { activeMax: 4, queuedMax: 7, atLimitMs: 1000, admitted: 5 })
  assert.deepEqual(figures.counts(9, true), { activeMax: 0, queuedMax: 0, atLimitMs: 0, admitted: 0 })
})

it('MinuteFigures never finds more than a minute in a minute', () => {
  let nowMs = 0
  const figures = new MinuteFigures(() => nowMs)
  figures.changed(1, 0, true)
  nowMs = 60_018
  assert.equal(figures.counts(1, true).atLimitMs, 60_000)
})
