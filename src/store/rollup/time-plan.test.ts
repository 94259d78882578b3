import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type CellMinutes, groupings } from './groupings.ts'
import { planOf, dayMs, hourMs, quarterMs } from './time-plan.ts'

const startMs = Date.UTC(2026, 10, 20)
const minuteMs = 60_000
const always = (): boolean => true

test('whole days, hours and quarters are taken, and the rest is told', () => {
  const hour = startMs / hourMs
  const edges = [startMs - 2 * hourMs, startMs + dayMs + quarterMs + 1000]
  assert.deepEqual(planOf(edges, [1440, 60, 15], always), {
    spans: [
      { minutes: 60, first: hour - 2, past: hour },
      { minutes: 1440, first: startMs / dayMs, past: startMs / dayMs + 1 },
      { minutes: 15, first: 4 * (hour + 24), past: 4 * (hour + 24) + 1 },
    ],
    rest: [[startMs + dayMs + quarterMs, startMs + dayMs + quarterMs + 1000]],
  })
})

test('hours of a zone that is off by 30 minutes are half hours, and of one that is off by 45 minutes quarters', () => {
  for (const minutes of [30, 15] as const) {
    const [fromMs, width] = [startMs + (minutes === 30 ? 30 : 45) * minuteMs, minutes * minuteMs]
    const edges = [0, 1, 2, 3].map((hour) => fromMs + hour * hourMs)
    assert.deepEqual(planOf(edges, [1440, 60, 30, 15], always), {
      spans: [{ minutes, first: fromMs / width, past: (fromMs + 3 * hourMs) / width }],
      rest: [],
    })
  }
})

test('a day that is not made is covered by its hours, and an hour without cells is left', () => {
  const hour = startMs / hourMs
  const hasCells = (minutes: CellMinutes, cell: number): boolean => minutes === 60 && cell !== hour + 5
  assert.deepEqual(planOf([startMs, startMs + dayMs], [1440, 60], hasCells), {
    spans: [
      { minutes: 60, first: hour, past: hour + 5 },
      { minutes: 60, first: hour + 6, past: hour + 24 },
    ],
    rest: [[startMs + 5 * hourMs, startMs + 6 * hourMs]],
  })
})

test('each instant lies in exactly one cell or in the rest, and no cell reaches over an edge', () => {
  const instant = fc.nat((4 * dayMs) / minuteMs).map((minute) => startMs + minute * minuteMs)
  const missing = fc.uniqueArray(fc.nat(100))
  fc.assert(
    fc.property(
      fc.uniqueArray(instant, { minLength: 2, maxLength: 8 }),
      fc.constantFrom(...groupings),
      missing,
      (instants, { widths }, holes) => {
        const edges = instants.toSorted((a, b) => a - b)
        const { spans, rest } = planOf(edges, widths, (minutes, cell) =>
          holes.every((hole) => {
            const holeMs = startMs + hole * hourMs
            return holeMs >= (cell + 1) * minutes * minuteMs || holeMs + hourMs <= cell * minutes * minuteMs
          }),
        )
        const pieces = spans.flatMap(({ minutes, first, past }) =>
          Array.from({ length: past - first }, (_, at) => {
            const fromMs = (first + at) * minutes * minuteMs
            return [fromMs, fromMs + minutes * minuteMs] as const
          }),
        )
        for (const [fromMs, toMs] of pieces) assert.ok(edges.every((edge) => edge <= fromMs || edge >= toMs))
        const inOrder = [...pieces, ...rest].toSorted(([a], [b]) => a - b)
        let at = edges[0]
        for (const [fromMs, toMs] of inOrder) {
          assert.equal(fromMs, at)
          at = toMs
        }
        assert.equal(at, edges.at(-1))
      },
    ),
  )
})
