import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CallIds } from '../../call/call-id.ts'
import { isKept, keepingOf } from './capture-rule.ts'

test('a sample takes about its share of calls, from whichever gateway and however close they follow', () => {
  for (const share of [0.5, 0.1, 0.01]) {
    for (const everyMs of [0.01, 1, 1000]) {
      let nowMs = Date.UTC(2026, 10, 21)
      const ids = new CallIds(() => Math.floor((nowMs += everyMs)), 5)
      const rule = `sample:1/${1 / share}`
      const count = 20_000
      const taken = Array.from({ length: count }, () => keepingOf(rule, ids.next())).filter(
        (keeping) => keeping === 'always',
      ).length
      const deviation = Math.sqrt(count * share * (1 - share))
      assert.ok(Math.abs(taken - count * share) < 6 * deviation, `${taken} of ${count} for ${share}`)
    }
  }
})

test('`all` and a sample of one in one keep every call, `errors` those that fail', () => {
  const id = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(id, (callId) => {
      const keepings = ['all', 'sample:1/1', 'errors'].map((rule) => keepingOf(rule, callId))
      assert.deepEqual(keepings, ['always', 'always', 'if_failed'])
    }),
  )
})

test('`if_failed` keeps what counts as failed, `always` every outcome, `never` none', () => {
  for (const outcome of ['ok', 'client_disconnected'] as const) {
    assert.deepEqual(
      (['always', 'if_failed', 'never'] as const).map((keeping) => isKept(keeping, outcome)),
      [true, false, false],
    )
  }
  for (const outcome of ['upstream_error', 'upstream_cut', 'refused', 'gateway_error'] as const) {
    assert.deepEqual([isKept('if_failed', outcome), isKept('never', outcome)], [true, false])
  }
})
