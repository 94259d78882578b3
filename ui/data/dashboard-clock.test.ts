import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fittingOffset } from './dashboard-clock.ts'

const noonMs = Date.UTC(2026, 10, 21, 12)
const hourMs = 3_600_000

test('a clock that is right stays as it is, however long an answer takes', () => {
  for (const [sent, received] of [
    [noonMs + 10, noonMs + 20],
    [noonMs + 990, noonMs + 1400],
    [noonMs - 4000, noonMs + 900],
  ] as const) {
    assert.equal(fittingOffset(0, noonMs, sent, received), 0)
  }
})

test('a clock that is off is put right to the second, and better with each answer', () => {
  const offMs = 3 * hourMs
  const first = fittingOffset(0, noonMs, noonMs + 300 + offMs, noonMs + 800 + offMs)
  assert.ok(Math.abs(first + offMs) <= 1000, String(first))
  const second = fittingOffset(first, noonMs + 5000, noonMs + 5010 + offMs, noonMs + 5020 + offMs)
  assert.ok(Math.abs(second + offMs) <= Math.abs(first + offMs))
  assert.ok(Math.abs(fittingOffset(0, noonMs, noonMs - offMs, noonMs - offMs + 50) - offMs) <= 1000)
})

test('an answer without a date says nothing', () => {
  assert.equal(fittingOffset(-70, Number.NaN, 1, 2), -70)
})
