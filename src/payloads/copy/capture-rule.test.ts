import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { CallIds } from '../../call/call-id.ts'
import { formatCaptureRule, isKept, keepingOf, parseCaptureRule } from './capture-rule.ts'

describe('a rule is read', () => {
  const good: Record<string, ReturnType<typeof parseCaptureRule>> = {
    all: { kind: 'all' },
    errors: { kind: 'errors' },
    'sample:1/10': { kind: 'sample', every: 10 },
    'sample:1/1': { kind: 'sample', every: 1 },
  }
  for (const [text, rule] of Object.entries(good))
    test(text, () => assert.deepEqual(parseCaptureRule(text), rule))

  const bad = ['', 'All', 'error', 'sample', 'sample:', 'sample:0', 'sample:1', 'sample:2', 'sample:0.1']
  const alsoBad = ['sample:-1/2', 'sample:1/0', 'sample:2/3', 'sample:1/x', 'sample:1/', 'sample:1/0x1']
  const largeToo = ['sample:1/1 ', 'sample:1/1e3', 'sample:1/1000000000000']
  for (const text of [...bad, ...alsoBad, ...largeToo]) {
    test(`not ${text}`, () => assert.equal(parseCaptureRule(text), null))
  }

  test('what is formatted is read as the same', () => {
    for (const text of ['all', 'errors', 'sample:1/7']) {
      const rule = parseCaptureRule(text)
      assert.ok(rule !== null)
      assert.equal(formatCaptureRule(rule), text)
    }
  })
})

test('a sample takes about its share of calls, from whichever gateway and however close they follow', () => {
  for (const share of [0.5, 0.1, 0.01]) {
    for (const everyMs of [0.01, 1, 1000]) {
      let nowMs = Date.UTC(2026, 10, 21)
      const ids = new CallIds(() => Math.floor((nowMs += everyMs)), 5)
      const rule = { kind: 'sample', every: 1 / share } as const
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
      const keepings = ['all', 'sample:1/1', 'errors'].map((text) =>
        keepingOf(parseCaptureRule(text) ?? { kind: 'sample', every: 1e9 }, callId),
      )
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
