import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, assert as holds, integer, property, tuple } from 'fast-check'
import { estimate, leastSlots, loadOf, mostAtOnce, waitFigures, waitsWith } from './slot-estimates.ts'

type Calls = readonly (readonly [askedMs: number, heldMs: number])[]

const loadFrom = (calls: Calls) =>
  loadOf({
    askedMs: Float64Array.from(calls, ([askedMs]) => askedMs),
    heldMs: Float64Array.from(calls, ([, heldMs]) => heldMs),
  })

/** Millisecond by millisecond, as a queue is told in words. */
function waitsStepByStep(slots: number, calls: Calls) {
  const coming = calls.toSorted(([a], [b]) => a - b)
  const waits: number[] = []
  let endsMs: number[] = []
  for (let nowMs = 0; coming.length > 0; nowMs++) {
    endsMs = endsMs.filter((endMs) => endMs > nowMs)
    while (endsMs.length < slots && coming[0] !== undefined && coming[0][0] <= nowMs) {
      const [askedMs, heldMs] = coming.shift()!
      waits.push(nowMs - askedMs)
      endsMs.push(nowMs + heldMs)
    }
  }
  return waits
}

test('calls wait as they would at a gate with so many places', () => {
  const call = tuple(integer({ min: 0, max: 40 }), integer({ min: 1, max: 20 }))
  holds(
    property(array(call, { maxLength: 30 }), integer({ min: 1, max: 5 }), (calls, slots) => {
      assert.deepEqual([...waitsWith(slots, loadFrom(calls), 0)], waitsStepByStep(slots, calls))
    }),
  )
})

test('a slot rests before one who waits gets it, and not before one who comes to a free one', () => {
  const load = loadFrom([0, 5, 100].map((askedMs) => [askedMs, 10]))
  assert.deepEqual([...waitsWith(1, load, 50)], [0, 55, 0])
})

test('with as many slots as are held at once nobody waits, with one less somebody does', () => {
  const call = tuple(integer({ min: 0, max: 100 }), integer({ min: 1, max: 50 }))
  holds(
    property(array(call, { minLength: 1, maxLength: 40 }), (calls) => {
      const load = loadFrom(calls)
      const most = mostAtOnce(load)
      assert.equal(Math.max(...waitsWith(most, load, 50)), 0)
      if (most > 1) assert.ok(Math.max(...waitsWith(most - 1, load, 50)) > 0)
    }),
  )
})

test('the recommended limit is the lowest whose estimate keeps the p95 wait', () => {
  const call = tuple(integer({ min: 0, max: 400 }), integer({ min: 1, max: 200 }))
  holds(
    property(array(call, { minLength: 1, maxLength: 60 }), (calls) => {
      const load = loadFrom(calls)
      const slots = leastSlots(mostAtOnce(load), load, { cooldownMs: 0, waitP95Ms: 100 })
      const p95 = (limit: number): number => estimate(limit, load, 0).wait_p95_ms ?? 0
      assert.ok(p95(slots) <= 100 && (slots === 1 || p95(slots - 1) > 100), `${slots} slots`)
    }),
    { examples: [[Array.from({ length: 400 }, (_, index) => [index * 10, 95])]] },
  )
})

test('who never had a slot needs one for as long as half of the others did', () => {
  const { heldMs } = loadOf({ askedMs: Float64Array.of(3, 0, 1, 2), heldMs: Float64Array.of(-1, 10, 20, 90) })
  assert.deepEqual([...heldMs], [10, 20, 90, 20])
})

test('figures: who waits a millisecond or more, and for how long', () => {
  const figures = waitFigures(Float64Array.from([0, 0.4, 1, 250.12345]))
  assert.deepEqual(figures, { waited: 2, wait_p95_ms: 212.755, wait_max_ms: 250.123 })
  const none = { max_concurrent: 2, waited: 0, wait_p95_ms: null, wait_max_ms: null }
  assert.deepEqual(estimate(2, loadFrom([]), 50), none)
})
