import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { CallJson } from '../../src/call/call-record.ts'
import {
  type CourseBar,
  barsOf,
  courseLines,
  gapLimitMs,
  pieceAt,
  pointAt,
  sessionCourse,
} from './session-course.ts'

const beganMs = Date.parse('2026-11-21T04:00:00.000Z')

function call(startMs: number, durationMs: number, rest: Partial<CallJson> = {}): CallJson {
  return {
    id: String(startMs).padStart(11, '0'),
    started_at: new Date(beganMs + startMs).toISOString(),
    duration_ms: durationMs,
    model: 'a-model',
    failed: false,
    input_tokens: null,
    cached_input_tokens: null,
    cost_usd: null,
    tools: null,
    ...rest,
  } as CallJson
}

test('calls that are open together are in lanes of their own, the others in the first', () => {
  const { pieces, lanes, inCallsMs, lengthMs } = sessionCourse([
    call(0, 1000),
    call(2000, 3000),
    call(2500, 500),
    call(3200, 500),
    call(6000, 1000),
  ])
  assert.equal(pieces.map(({ lane }) => lane).join(' '), '0 0 1 1 0')
  assert.deepEqual([lanes, inCallsMs, lengthMs], [2, 5000, 7000])
})

test('more calls at once than can be told apart share the last lane', () => {
  const { pieces, lanes } = sessionCourse(Array.from({ length: 40 }, (_, at) => call(at, 10_000)))
  assert.equal(lanes, 12)
  assert.equal(pieces.filter(({ lane }) => lane === 11).length, 29)
})

test('a gap names the tools that all calls right before it asked for', () => {
  const { gaps } = sessionCourse([
    call(0, 1000, { tools: 'Read,Grep' }),
    call(500, 200, { tools: 'Bash' }),
    call(2000, 1000),
    call(4000, 1000),
  ])
  assert.deepEqual(
    gaps.map(({ startMs, endMs, tools, isCut }) => `${startMs}-${endMs} ${tools.join()} ${isCut}`),
    ['1000-2000 Read,Grep,Bash false', '3000-4000  false'],
  )
})

test('the cache broke where less was cached of a longer prompt, by the call before of the same model', () => {
  const tokens = (input: number | null, cached: number | null, model = 'a-model'): Partial<CallJson> => ({
    input_tokens: input,
    cached_input_tokens: cached,
    model,
  })
  const { pieces } = sessionCourse([
    call(0, 1000, tokens(5000, 0)),
    call(2000, 1000, tokens(6000, 5000)),
    // Another model has a separate cache, and a failed call says nothing about the cache.
    call(4000, 1000, tokens(7000, 0, 'another')),
    call(6000, 1000, tokens(null, null)),
    call(8000, 1000, tokens(7000, 256)),
    // A shorter prompt is another conversation, and a small fall is the upstream's rounding. A concurrent call has
    // no previous call.
    call(10_000, 1000, tokens(3000, 0)),
    call(12_000, 1000, tokens(7500, 7000)),
    call(14_000, 3000, tokens(8000, 6900)),
    call(15_000, 500, tokens(9000, 0)),
  ])
  const [broken, ...others] = pieces.filter(({ prefixBreak }) => prefixBreak !== null)
  assert.deepEqual([broken?.startMs, others], [8000, []])
  assert.deepEqual(broken?.prefixBreak, { before: 5000, now: 256, afterMs: 5000 })
})

test('an hour without calls has the room of a quarter of them, and all else keeps its proportions', () => {
  const calls = [call(0, 4000), call(5000, 4000), call(3_609_000, 4000)]
  const { gaps, placeOf } = sessionCourse(calls)
  assert.equal(gaps.map(({ isCut }) => isCut).join(' '), 'false true')
  // The widths are 4 s, 1 s, 4 s, 3 s (for the hour) and 4 s.
  const places = [0, 4000, 5000, 9000, 1_809_000, 3_609_000, 3_613_000].map((ms) => placeOf(ms) * 16_000)
  assert.equal(places.map(Math.round).join(' '), '0 4000 5000 9000 10500 12000 16000')
})

test('whatever the calls, the axis goes on from 0 to 1, and calls have a tenth of it', () => {
  const lengths = fc.nat({ max: 10_000_000 })
  const runs = fc.array(fc.tuple(lengths, lengths), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(runs, (run) => {
      let atMs = 0
      const calls = run.map(([gap, length]) => {
        atMs += gap
        return call(atMs, length)
      })
      const { placeOf, lengthMs, gaps, inCallsMs } = sessionCourse(calls)
      const within = gaps.flatMap(({ startMs, endMs }) => [startMs, (startMs + endMs) / 2, endMs])
      const drawn = [0, ...within, lengthMs].map(placeOf)
      assert.ok(drawn.every((place, at) => place >= (drawn[at - 1] ?? 0) - 1e-9))
      if (lengthMs > 0) assert.ok(Math.abs((drawn.at(-1) ?? 0) - 1) < 1e-9)
      const between = gaps.reduce((sum, { startMs, endMs }) => sum + placeOf(endMs) - placeOf(startMs), 0)
      if (inCallsMs >= 30) assert.ok(between <= 0.901, `${between}`)
    }),
  )
})

test('gaps are cut at three usual ones', () => {
  assert.equal(gapLimitMs([], 1000), 250)
  assert.equal(gapLimitMs([2000, 2000, 2000, 600_000], 10_000), 6000)
})

test('ten thousand calls are few bars, and all of them are in one', () => {
  const course = sessionCourse(
    Array.from({ length: 10_000 }, (_, at) => call(at * 3000, 2000, { failed: at === 7000 })),
  )
  const drawn = (axisPx: number, fromPx: number, toPx: number): readonly CourseBar[] =>
    barsOf({ ...course, pxOf: (ms) => course.placeOf(ms) * axisPx, fromPx, toPx })
  const bars = drawn(1200, 0, 1200)
  assert.ok(bars.length < 100, `${bars.length}`)
  assert.equal(
    bars.reduce((sum, { calls }) => sum + calls, 0),
    10_000,
  )
  assert.equal(bars.filter(({ failed }) => failed).length, 1)
  // On a longer axis, only the visible part is drawn, with a bar for each call.
  const near = drawn(1_200_000, 600_000, 601_200)
  assert.ok(near.every(({ calls }) => calls === 1))
  assert.ok(near.length > 5 && near.length < 15)
})

test('the lines leave out what is not known, and add up what was spent', () => {
  const { prompt, cached, cost } = courseLines(
    sessionCourse([
      call(0, 1, { input_tokens: 100, cached_input_tokens: 25, cost_usd: 0.5 }),
      call(10, 1),
      call(20, 1, { input_tokens: 0, cached_input_tokens: 0, cost_usd: 0.25 }),
    ]),
  )
  const shown = [prompt, cached, cost].map((points) =>
    points.map(({ ms, value }) => `${ms}: ${value}`).join(', '),
  )
  assert.deepEqual(shown, ['0: 100, 20: 0', '0: 0.25', '0: 0.5, 20: 0.75'])
})

test('calls of another model beside the main one say nothing of its prompt and cache, but cost', () => {
  const { prompt, cached, cost, model } = courseLines(
    sessionCourse([
      call(0, 1, { input_tokens: 100, cached_input_tokens: 50, cost_usd: 1 }),
      call(10, 1, { input_tokens: 5, cached_input_tokens: 0, cost_usd: 1, model: 'b-model' }),
      call(20, 1, { input_tokens: 200, cached_input_tokens: 100, cost_usd: 1 }),
    ]),
  )
  const values = [prompt, cached, cost].map((points) => points.map(({ value }) => value).join())
  assert.deepEqual(values, ['100,200', '0.5,0.5', '1,2,3'])
  assert.equal(model, 'a-model')
})

test('what is pointed at is the last call that had begun, and each figure after it', () => {
  const course = sessionCourse([
    call(0, 1000, { input_tokens: 100 }),
    call(2000, 1000),
    call(3000, 1000, { input_tokens: 300 }),
  ])
  const pieces = [-0.1, 0, 0.49, 0.5, 0.74, 0.75, 2].map((place) => pieceAt(course, place))
  assert.deepEqual(pieces, [null, 0, 0, 2000, 2000, 3000, 3000])
  const { prompt, cached } = courseLines(course)
  assert.equal(pointAt(prompt, 2000)?.value, 100)
  assert.equal(pointAt(prompt, 3000)?.value, 300)
  assert.equal(pointAt(cached, 3000), null)
})
