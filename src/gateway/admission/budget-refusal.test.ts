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
  it('says the limit, what is used and what remains, which may be negative', () => {
    const { gate } = setUp(100)
    gate.add(130)
    const failure = failureOf(() => gate.check(0))
    assert.deepEqual(failure.headers, [
      'X-Token-Budget-Limit',
      '100',
      'X-Token-Budget-Used',
      '130',
      'X-Token-Budget-Remaining',
      '-30',
    ])
    assert.equal(failure.shouldRetry, false)
    assert.equal(failure.kind.status, 429)
    assert.match(failure.message, /\b100\b.*\b130\b/)
  })

  it('reserves what a call may use', () => {
    const { gate } = setUp(100)
    using _held = gate.reserve(60)
    gate.check(40)
    assert.match(failureOf(() => gate.check(41)).message, /\b60 more\b.*\b41\b/)
    assert.ok(failureOf(() => gate.reserve(41)))
    gate.reserve(40)
    assert.ok(
      failureOf(() => gate.check(0)),
      'all is reserved',
    )
  })

  it('takes a reservation back once, also where a call used nothing', () => {
    const { gate } = setUp(100)
    const first = gate.reserve(100)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    const second = gate.reserve(100)
    assert.ok(failureOf(() => gate.check(0)))
    second[Symbol.dispose]()
    gate.check(100)
  })

  it('says when enough tokens will have left', () => {
    const { clock, gate } = setUp(100)
    gate.add(30)
    clock.tick(60 * minuteMs)
    gate.add(50)
    clock.tick(60 * minuteMs + 10_000)
    gate.add(20)
    const retryAfterS = (tokens: number): number | null => failureOf(() => gate.check(tokens)).retryAfterS
    const toTheFirst = dayS + 60 - 2 * 3600 - 10
    assert.deepEqual([0, 1, 30, 31, 80, 81, 100, 101].map(retryAfterS), [
      toTheFirst,
      toTheFirst,
      toTheFirst,
      toTheFirst + 3600,
      toTheFirst + 3600,
      toTheFirst + 7200,
      toTheFirst + 7200,
      null,
    ])
    clock.tick(toTheFirst * 1000 - 1)
    assert.equal(retryAfterS(30), 1)
    clock.tick(1)
    gate.check(30)
  })

  it('says of a call that asks for more than the whole limit that it never passes', () => {
    const { gate } = setUp(100)
    gate.check(100)
    for (const [tokens, wording] of [
      [101, /up to 101 tokens\b.*\bnever passes\b/],
      [Infinity, /more tokens than can be counted\b.*\bnever passes\b/],
    ] as const) {
      const failure = failureOf(() => gate.check(tokens))
      assert.equal(failure.code, 'token_budget_exceeded')
      assert.equal(failure.retryAfterS, null)
      assert.match(failure.message, wording)
      assert.deepEqual(failure.headers.slice(0, 2), ['X-Token-Budget-Limit', '100'])
    }
  })

  it('asks to come back in a minute where only calls in flight stand in the way', () => {
    const { gate } = setUp(100)
    using _held = gate.reserve(100)
    const failure = failureOf(() => gate.check(1))
    assert.equal(failure.retryAfterS, 60)
    assert.deepEqual(failure.headers.slice(2), [
      'X-Token-Budget-Used',
      '0',
      'X-Token-Budget-Remaining',
      '100',
    ])
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
          inFlight.push({
            reservation: gate.reserve(ask),
            uses: Math.floor(ask * share),
          })
        } catch (error) {
          assert.ok(error instanceof Failure && error.retryAfterS !== null && error.retryAfterS >= 1)
          const remainsAt = (ms: number): number => budget.snapshot(ms).remaining
          if (budget.snapshot(wallMs).remaining < ask) {
            assert.ok(remainsAt(wallMs + error.retryAfterS * 1000) >= ask, 'it is long enough')
            assert.ok(
              error.retryAfterS === 1 || remainsAt(wallMs + (error.retryAfterS - 1) * 1000) < ask,
              'it is no longer than needed',
            )
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
