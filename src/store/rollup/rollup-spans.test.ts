import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { coverOf, type LevelNumber, quarterMs, quartersOf } from './rollup-spans.ts'

const dayMs = 96 * quarterMs
const far = Number.MAX_SAFE_INTEGER
const quarterly: readonly LevelNumber[] = [0, 1, 2, 3]
const withHalves: readonly LevelNumber[] = [0, 4, 1, 2, 3]
const hourly: readonly LevelNumber[] = [1, 2, 3]

describe('coverOf', () => {
  it('takes days, then six hours, hours and quarters towards the ends', () => {
    const { spans, ragged } = coverOf([dayMs - quarterMs * 29, 3 * dayMs + quarterMs * 5], {
      levels: quarterly,
      coarseUntil: far,
    })
    assert.deepEqual(spans, [
      { level: 0, first: 67, past: 68 },
      { level: 1, first: 17, past: 18 },
      { level: 2, first: 3, past: 4 },
      { level: 3, first: 1, past: 3 },
      { level: 1, first: 72, past: 73 },
      { level: 0, first: 292, past: 293 },
    ])
    assert.deepEqual(ragged, [])
  })

  it('leaves what is less than a quarter to be counted call by call', () => {
    assert.deepEqual(coverOf([10, quarterMs + 10], { levels: quarterly, coarseUntil: far }), {
      spans: [],
      ragged: [[10, quarterMs + 10]],
    })
    assert.deepEqual(coverOf([10, 2 * quarterMs + 10], { levels: quarterly, coarseUntil: far }), {
      spans: [{ level: 0, first: 1, past: 2 }],
      ragged: [
        [10, quarterMs],
        [2 * quarterMs, 2 * quarterMs + 10],
      ],
    })
    assert.deepEqual(coverOf([10, 10], { levels: quarterly, coarseUntil: far }), { spans: [], ragged: [] })
  })

  it('takes half hours, where they are held', () => {
    const { spans } = coverOf([2 * quarterMs, 11 * quarterMs], { levels: withHalves, coarseUntil: 10 })
    assert.deepEqual(spans, [
      { level: 4, first: 1, past: 2 },
      { level: 1, first: 1, past: 2 },
      { level: 4, first: 4, past: 5 },
      { level: 0, first: 10, past: 11 },
    ])
  })

  it('takes hours that are made at once, and nothing narrower', () => {
    const { spans, ragged } = coverOf([quarterMs, 25 * quarterMs], { levels: hourly, coarseUntil: 0 })
    assert.deepEqual(spans, [{ level: 1, first: 1, past: 6 }])
    assert.deepEqual(ragged, [
      [quarterMs, 4 * quarterMs],
      [24 * quarterMs, 25 * quarterMs],
    ])
  })

  it('covers every millisecond once, with coarse slots only where they are complete', () => {
    const instant = fc.integer({ min: 0, max: 40 * dayMs })
    const quarter = fc.nat(40 * 96)
    const property = fc.property(
      instant,
      instant,
      quarter,
      fc.constantFrom(quarterly, withHalves, hourly),
      (a, b, coarseUntil, levels) => {
        const [fromMs, toMs] = a < b ? [a, b] : [b, a]
        const { spans, ragged } = coverOf([fromMs, toMs], { levels, coarseUntil })
        const pieces = ragged.map(([from, to]) => [from, to] as const)
        for (const { level, first, past } of spans) {
          const quarters = quartersOf(level)
          assert.ok(levels.includes(level))
          assert.ok(level === levels[0] || past * quarters <= coarseUntil)
          pieces.push([first * quarters * quarterMs, past * quarters * quarterMs])
        }
        pieces.sort((one, other) => one[0] - other[0])
        let at = fromMs
        for (const [from, to] of pieces) {
          assert.equal(from, at)
          at = to
        }
        assert.equal(at, Math.max(fromMs, toMs))
      },
    )
    fc.assert(property, { numRuns: 500 })
  })
})
