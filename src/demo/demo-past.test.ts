import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstIdAt } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { demoPast, pastDays, pastIncident } from './demo-past.ts'
import { pastMinutes } from './past.ts'

const endMs = Date.UTC(2026, 10, 19, 15, 30)

function firstHours(seed: number): readonly StoredCall[] {
  const minutes = pastMinutes(demoPast(endMs, seed, '127.0.0.1:9'))
  return minutes
    .take(30 * 60)
    .toArray()
    .flatMap(({ calls }) => calls)
}

const calls = firstHours(1)

test('the same seed and end make the same calls, and another seed makes others', () => {
  assert.ok(calls.length > 300)
  assert.deepEqual(firstHours(1), calls)
  assert.notDeepEqual(firstHours(2), calls)
})

test('no call is cut short of its time, or begins before the past or after its end', () => {
  for (const { id, durationMs, queueMs, ttftMs, ttfbMs, outcome } of calls) {
    assert.ok(id >= firstIdAt(endMs - pastDays * 86_400_000) && id < firstIdAt(endMs))
    const dispatched = (durationMs ?? 0) - (queueMs ?? 0)
    assert.ok(outcome !== 'ok' || (dispatched >= (ttftMs ?? 0) && dispatched >= (ttfbMs ?? 0)))
  }
})

test('whatever the day, the incident was in the forenoon of a working day of the last week', () => {
  for (let day = 0; day < 7; day++) {
    const nowMs = endMs + day * 86_400_000
    const { fromMs, toMs } = pastIncident(nowMs)
    const from = new Date(fromMs)
    assert.equal(toMs - fromMs, 3 * 3_600_000)
    assert.equal(from.getHours(), 10)
    assert.ok(from.getDay() >= 1 && from.getDay() <= 5)
    const daysAgo = (nowMs - fromMs) / 86_400_000
    assert.ok(daysAgo > 1.5 && daysAgo < 5.5, `${daysAgo} days`)
  }
})
