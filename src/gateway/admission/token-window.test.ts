import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { TokenWindow } from './token-window.ts'
import { draws } from '../../../test/support/draws.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const startMs = Date.UTC(2026, 10, 21, 6)

/** A call that ended used this. */
function add(window: TokenWindow, nowMs: number, reported: number, estimated = 0): void {
  window.addTo({ minute: Math.floor(nowMs / minuteMs), tokens: reported + estimated, estimated })
}

describe('TokenWindow', () => {
  it('can be made anew out of what it counts, and tells of what is added since', () => {
    const window = new TokenWindow(1000)
    window.restore([{ minute: Math.floor((startMs - dayMs) / minuteMs) - 1, tokens: 5 }])
    add(window, startMs - hourMs, 400)
    add(window, startMs, 30)
    const usages: { readonly minute: number; readonly tokens: number }[] = []
    window.watch({ added: (usage) => usages.push(usage), reserved: () => {} })
    const next = new TokenWindow(1000)
    next.restore(window.minutes(startMs))
    assert.equal(next.snapshot(startMs).totalUsed, 430)
    add(window, startMs, 7, 3)
    for (const usage of usages) next.addTo(usage)
    const { totalUsed, estimated, isKnown } = next.snapshot(startMs)
    assert.deepEqual([totalUsed, estimated, isKnown], [440, 3, true])
  })

  it('tells what was estimated apart, for as long as it counts', () => {
    const window = new TokenWindow(1000)
    add(window, startMs, 10, 5)
    add(window, startMs + hourMs, 0, 7)
    const figures = (nowMs: number): number[] => {
      const { totalUsed, estimated, remaining } = window.snapshot(nowMs)
      return [totalUsed, estimated, remaining]
    }
    assert.deepEqual(figures(startMs + hourMs), [22, 12, 978])
    assert.deepEqual(figures(startMs + dayMs + hourMs), [7, 7, 993])
    assert.deepEqual(window.minutes(startMs + dayMs + hourMs), [
      { minute: (startMs + hourMs) / minuteMs, tokens: 7, estimated: 7 },
    ])
  })

  it('says when what it reserves changes, and keeps what others may use free as well', () => {
    const window = new TokenWindow(1000)
    const reservations: number[] = []
    window.watch({ reserved: () => reservations.push(window.reserved) })
    window.reserve(300)
    window.reserve(0)
    window.reserveElsewhere(600)
    assert.deepEqual([window.reserved, window.reservedInAll], [300, 900])
    window.check(startMs, 100)
    assert.throws(() => window.check(startMs, 101), /\b900 more\b/)
    window.reserve(-300)
    assert.deepEqual(reservations, [300, 0])
    window.check(startMs, 400)
  })

  it('counts what other gateways used beside its own, and takes what it learns in place of what it knew', () => {
    const window = new TokenWindow(1000)
    const minute = startMs / minuteMs
    add(window, startMs, 1)
    window.learn(
      [
        { minute, tokens: 10 },
        { minute: minute - 1, tokens: 20 },
      ],
      true,
    )
    assert.ok(window.isKnown)
    assert.equal(window.snapshot(startMs).totalUsed, 31)
    window.learn([{ minute, tokens: 15, estimated: 5 }], false)
    assert.deepEqual([window.snapshot(startMs).totalUsed, window.snapshot(startMs).estimated], [36, 5])
    window.learn([{ minute, tokens: 2 }], true)
    add(window, startMs, 4)
    assert.equal(window.snapshot(startMs).totalUsed, 7)
  })

  it('takes what was recorded before the start, before or after the first calls', () => {
    const restored = [
      { minute: startMs / minuteMs - 1441, tokens: 1000 },
      { minute: startMs / minuteMs - 1440, tokens: 16 },
      { minute: startMs / minuteMs - 1, tokens: 8 },
      { minute: startMs / minuteMs, tokens: 4 },
    ]
    const early = new TokenWindow(100)
    early.restore(restored)
    add(early, startMs, 1)
    const late = new TokenWindow(100)
    add(late, startMs, 1)
    assert.equal(late.snapshot(startMs).totalUsed, 1)
    late.restore(restored)
    assert.equal(early.snapshot(startMs).totalUsed, 29)
    assert.ok(early.isKnown)
    assert.deepEqual(late.snapshot(startMs), early.snapshot(startMs))
  })

  it('is not moved by usage of long ago', () => {
    const window = new TokenWindow(100)
    add(window, startMs, 5)
    window.restore([{ minute: startMs / minuteMs - 2881, tokens: 7 }])
    assert.equal(window.snapshot(startMs).totalUsed, 5)
  })

  it('counts nothing for calls without usage', () => {
    const window = new TokenWindow(100)
    for (const tokens of [0, -5, Number.NaN]) add(window, startMs, tokens)
    assert.equal(window.snapshot(startMs).totalUsed, 0)
  })

  it('does not believe a clock that ran more than a day ahead', () => {
    const window = new TokenWindow(100)
    add(window, startMs + 3000 * dayMs, 10)
    add(window, startMs, 20)
    assert.equal(window.snapshot(startMs).totalUsed, 20)
  })

  it('counts what was used against a new limit', () => {
    const window = new TokenWindow(100)
    add(window, startMs, 30)
    window.setLimit(20)
    assert.deepEqual(window.snapshot(startMs), {
      dailyLimit: 20,
      totalUsed: 30,
      estimated: 0,
      isKnown: false,
      remaining: -10,
      percentageUsed: 150,
    })
  })

  it('equals the sum over all calls of the window, however the clock is set', () => {
    const step = fc.record({ stepMs: fc.integer({ min: -hourMs, max: 3 * hourMs }), tokens: fc.nat(1000) })
    const property = fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const window = new TokenWindow(1)
      const calls: { minute: number; tokens: number }[] = []
      let nowMs = startMs
      let latestMs = startMs
      for (const { stepMs, tokens } of steps) {
        // No more than an hour behind the latest instant that the clock has shown.
        nowMs = Math.max(nowMs + stepMs, latestMs - hourMs)
        latestMs = Math.max(latestMs, nowMs)
        add(window, nowMs, tokens)
        const minute = Math.floor(nowMs / minuteMs)
        calls.push({ minute, tokens })
        const expected = calls.reduce(
          (sum, call) => sum + (call.minute >= minute - 1440 ? call.tokens : 0),
          0,
        )
        assert.equal(window.snapshot(nowMs).totalUsed, expected)
      }
    })
    fc.assert(property, { numRuns: draws(300) })
  })
})
