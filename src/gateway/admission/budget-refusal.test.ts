import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Failure } from '../../call/failure.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { unknownCaller } from './admission.ts'
import { TokenWindows } from './token-windows.ts'

const minuteMs = 60_000
const dayS = 24 * 60 * 60

/** A budget that refuses, asked at the clock's time. */
function setUp(limit: number) {
  const clock = new FakeClock()
  const past = { usageByMinute: () => Promise.resolve([]), usageOfClients: () => Promise.resolve([]) }
  const options = { clock, rejects: true, tokenLimit: limit, sharedLimit: null, past }
  const windows = new TokenWindows({ ...options, keyNames: () => new Map() })
  void windows.restore({ used: [], usedSinceMs: null, usedByOwners: [] })
  const budget = windows.all
  const callWindows = windows.of(unknownCaller, null)
  const gate = {
    add: (tokens: number) => windows.add(callWindows, tokens, 0),
    check: (tokens: number) => assert.equal(windows.check(callWindows, tokens, new AbortController()), null),
    reserve: (tokens: number) => windows.reserve(callWindows, tokens)!,
  }
  return { budget, clock, gate }
}

function failureOf(action: () => unknown): Failure {
  try {
    action()
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    return error
  }
  return assert.fail('it was not refused')
}

describe('a budget that refuses', () => {
  it('says when enough tokens will have left', () => {
    const { clock, gate } = setUp(100)
    gate.add(30)
    clock.tick(60 * minuteMs)
    gate.add(50)
    clock.tick(60 * minuteMs + 10_000)
    gate.add(20)
    const retryAfterS = (tokens: number): number | null => failureOf(() => gate.check(tokens)).retryAfterS
    const toTheFirst = dayS + 60 - 2 * 3600 - 10
    const later = [0, 1, 30, 31, 80, 81, 100].map((tokens) => (retryAfterS(tokens) ?? 0) - toTheFirst)
    assert.deepEqual([...later, retryAfterS(101)], [0, 0, 0, 3600, 3600, 7200, 7200, null])
    clock.tick(toTheFirst * 1000 - 1)
    assert.equal(retryAfterS(30), 1)
    clock.tick(1)
    gate.check(30)
  })

  it('counts what was used before the clock was set back, and says when that leaves', () => {
    const { clock, gate } = setUp(100)
    gate.add(100)
    clock.stepWallTime(-60 * minuteMs)
    assert.equal(failureOf(() => gate.check(0)).retryAfterS, dayS + 60 + 3600)
  })
})

it('calls that keep to their bounds never use more than the limit, and the time told is the first that is long enough', () => {
  const step = fc.record({
    waitMs: fc.nat(3 * 60 * minuteMs),
    ask: fc.integer({ min: 1, max: 60 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    ends: fc.nat(3),
  })
  fc.assert(
    fc.property(fc.array(step, { size: 'max', maxLength: 100 }), (steps) => {
      const { budget, clock, gate } = setUp(100)
      const inFlight: { reservation: Disposable; uses: number }[] = []
      for (const { waitMs, ask, share, ends } of steps) {
        clock.tick(waitMs)
        const wallMs = clock.wallTime()
        try {
          inFlight.push({ reservation: gate.reserve(ask), uses: Math.floor(ask * share) })
        } catch (error) {
          assert.ok(error instanceof Failure && error.retryAfterS !== null && error.retryAfterS >= 1)
          const remainsAt = (ms: number): number => budget.snapshot(ms).remaining
          if (budget.snapshot(wallMs).remaining < ask) {
            assert.ok(remainsAt(wallMs + error.retryAfterS * 1000) >= ask, 'it is long enough')
            const before = remainsAt(wallMs + (error.retryAfterS - 1) * 1000)
            assert.ok(error.retryAfterS === 1 || before < ask, 'it is no longer than needed')
          }
        }
        for (const { reservation, uses } of inFlight.splice(0, ends)) {
          gate.add(uses)
          reservation[Symbol.dispose]()
        }
        assert.ok(budget.snapshot(clock.wallTime()).totalUsed <= 100)
      }
      for (const { reservation } of inFlight) reservation[Symbol.dispose]()
      clock.tick(2 * dayS * 1000)
      gate.check(100)
    }),
  )
})
