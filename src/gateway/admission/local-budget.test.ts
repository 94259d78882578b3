import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { LocalBudget } from './local-budget.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const startMs = Date.UTC(2026, 10, 21, 6)

describe('LocalBudget', () => {
  it('reports nothing used at first', () => {
    assert.deepEqual(new LocalBudget(1000, false).snapshot(startMs), {
      dailyLimit: 1000,
      totalUsed: 0,
      estimated: 0,
      isKnown: false,
      remaining: 1000,
      percentageUsed: 0,
    })
  })

  it('can be made anew out of what it counts, and tells of what is added since', () => {
    const budget = new LocalBudget(1000, false)
    budget.restore([{ minute: Math.floor((startMs - dayMs) / minuteMs) - 1, tokens: 5 }])
    budget.add(startMs - hourMs, 400)
    budget.add(startMs, 30)
    const told: { readonly minute: number; readonly tokens: number }[] = []
    budget.watch({ added: (usage) => told.push(usage), reserved: () => {} })
    const next = new LocalBudget(1000, false)
    next.restore(budget.minutes(startMs))
    assert.equal(next.snapshot(startMs).totalUsed, 430)
    budget.add(startMs, 7, 3)
    for (const usage of told) next.addTo(usage)
    const { totalUsed, estimated, isKnown } = next.snapshot(startMs)
    assert.deepEqual([totalUsed, estimated, isKnown], [440, 3, true])
  })

  it('adds up what was used, beyond the limit too', () => {
    const budget = new LocalBudget(1000, false)
    budget.add(startMs, 400)
    assert.deepEqual(budget.snapshot(startMs), {
      dailyLimit: 1000,
      totalUsed: 400,
      estimated: 0,
      isKnown: false,
      remaining: 600,
      percentageUsed: 40,
    })
    budget.add(startMs + 1, 850)
    assert.deepEqual(budget.snapshot(startMs + 1), {
      dailyLimit: 1000,
      totalUsed: 1250,
      estimated: 0,
      isKnown: false,
      remaining: -250,
      percentageUsed: 125,
    })
  })

  it('tells what was estimated apart, for as long as it counts', () => {
    const budget = new LocalBudget(1000, false)
    budget.add(startMs, 10, 5)
    budget.add(startMs + hourMs, 0, 7)
    const figures = (nowMs: number): number[] => {
      const { totalUsed, estimated, remaining } = budget.snapshot(nowMs)
      return [totalUsed, estimated, remaining]
    }
    assert.deepEqual(figures(startMs + hourMs), [22, 12, 978])
    assert.deepEqual(figures(startMs + dayMs + hourMs), [7, 7, 993])
    assert.deepEqual(budget.minutes(startMs + dayMs + hourMs), [
      { minute: (startMs + hourMs) / minuteMs, tokens: 7, estimated: 7 },
    ])
  })

  it('says when what it reserves changes, and keeps what others may use free as well', () => {
    const budget = new LocalBudget(1000, true)
    const told: number[] = []
    budget.watch({ added: () => {}, reserved: () => told.push(budget.reserved) })
    const held = budget.reserve(startMs, 300)!
    budget.reserve(startMs, 0)![Symbol.dispose]()
    budget.reserveElsewhere(600)
    assert.deepEqual([budget.reserved, budget.reservedInAll], [300, 900])
    budget.check(startMs, 100)
    assert.throws(() => budget.check(startMs, 101), /\b900 more\b/)
    held[Symbol.dispose]()
    held[Symbol.dispose]()
    assert.deepEqual(told, [300, 0])
    budget.check(startMs, 400)
  })

  it('refuses and reserves nothing if it only counts', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs, 100)
    budget.check(startMs, 1)
    assert.equal(budget.reserve(startMs, 1), null)
    assert.equal(budget.reserved, 0)
  })

  it('forgets what is a day old, by the minute', () => {
    const budget = new LocalBudget(1000, false)
    budget.add(startMs, 1)
    budget.add(startMs + 59_999, 2)
    budget.add(startMs + minuteMs, 4)
    assert.equal(budget.snapshot(startMs + dayMs).totalUsed, 7)
    assert.equal(budget.snapshot(startMs + dayMs + 59_999).totalUsed, 7)
    assert.equal(budget.snapshot(startMs + dayMs + minuteMs).totalUsed, 4)
    assert.equal(budget.snapshot(startMs + dayMs + 2 * minuteMs).totalUsed, 0)
    assert.equal(budget.snapshot(startMs + 400 * dayMs).totalUsed, 0)
  })

  it('takes what was recorded before the start, before or after the first calls', () => {
    const restored = [
      { minute: startMs / minuteMs - 1441, tokens: 1000 },
      { minute: startMs / minuteMs - 1440, tokens: 16 },
      { minute: startMs / minuteMs - 1, tokens: 8 },
      { minute: startMs / minuteMs, tokens: 4 },
    ]
    const early = new LocalBudget(100, false)
    early.restore(restored)
    early.add(startMs, 1)
    const late = new LocalBudget(100, false)
    late.add(startMs, 1)
    assert.equal(late.snapshot(startMs).totalUsed, 1)
    late.restore(restored)
    assert.equal(early.snapshot(startMs).totalUsed, 29)
    assert.ok(early.isKnown)
    assert.deepEqual(late.snapshot(startMs), early.snapshot(startMs))
  })

  it('is not moved by usage of long ago', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs, 5)
    budget.restore([{ minute: startMs / minuteMs - 2881, tokens: 7 }])
    assert.equal(budget.snapshot(startMs).totalUsed, 5)
  })

  it('counts nothing for calls without usage', () => {
    const budget = new LocalBudget(100, false)
    for (const tokens of [0, -5, Number.NaN]) budget.add(startMs, tokens)
    assert.equal(budget.snapshot(startMs).totalUsed, 0)
  })

  it('keeps what was used when the clock is set back', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs, 10)
    assert.equal(budget.snapshot(startMs - hourMs).totalUsed, 10)
    budget.add(startMs - hourMs, 20)
    assert.equal(budget.snapshot(startMs - hourMs).totalUsed, 30)
    assert.equal(budget.snapshot(startMs + dayMs).totalUsed, 10)
  })

  it('has forgotten nothing when the clock is set forward and back again', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs - dayMs + 10 * minuteMs, 10)
    budget.add(startMs, 20)
    assert.equal(budget.snapshot(startMs + hourMs).totalUsed, 20)
    budget.add(startMs + hourMs, 40)
    assert.equal(budget.snapshot(startMs).totalUsed, 70)
  })

  it('does not believe a clock that ran more than a day ahead', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs + 3000 * dayMs, 10)
    budget.add(startMs, 20)
    assert.equal(budget.snapshot(startMs).totalUsed, 20)
  })

  it('counts what was used against a new limit', () => {
    const budget = new LocalBudget(100, false)
    budget.add(startMs, 30)
    budget.setLimit(20)
    assert.deepEqual(budget.snapshot(startMs), {
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
      const budget = new LocalBudget(1, false)
      const calls: { minute: number; tokens: number }[] = []
      let nowMs = startMs
      let latestMs = startMs
      for (const { stepMs, tokens } of steps) {
        // No more than an hour behind the latest instant that the clock has shown.
        nowMs = Math.max(nowMs + stepMs, latestMs - hourMs)
        latestMs = Math.max(latestMs, nowMs)
        budget.add(nowMs, tokens)
        const minute = Math.floor(nowMs / minuteMs)
        calls.push({ minute, tokens })
        const expected = calls.reduce(
          (sum, call) => sum + (call.minute >= minute - 1440 ? call.tokens : 0),
          0,
        )
        assert.equal(budget.snapshot(nowMs).totalUsed, expected)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })
})
