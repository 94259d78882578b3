import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type TimedCall, barPieces, barScaleMs, callPhases } from './call-phases.ts'

const streamed: TimedCall = {
  attempts: 2,
  receive_ms: 1,
  queue_ms: 9,
  retry_wait_ms: 40,
  connect_ms: 5,
  ttfb_ms: 180,
  ttft_ms: 200,
  duration_ms: 1000,
}

function named(call: TimedCall): Record<string, readonly [number, number]> {
  return Object.fromEntries(
    callPhases(call).map(({ name, startMs, lengthMs }) => [name, [startMs, lengthMs] as const]),
  )
}

test('the first token counts from when the answering attempt was sent, connecting included', () => {
  assert.deepEqual(named(streamed), {
    receive: [0, 1],
    queue: [1, 9],
    retry: [10, 40],
    connect: [50, 5],
    first_token: [55, 195],
    stream: [250, 750],
  })
})

test('what is not known has no part, and what was not streamed has no first token', () => {
  const whole = { ...streamed, retry_wait_ms: null, connect_ms: null, ttft_ms: null }
  assert.deepEqual(named(whole), { receive: [0, 1], queue: [1, 9], first_byte: [10, 180], body: [190, 810] })
  const { ttfb_ms: _, connect_ms: __, ...short } = whole
  assert.deepEqual(named(short), { receive: [0, 1], queue: [1, 9], answer: [10, 990] })
})

test('a call that never reached the upstream ends with a refusal, an interrupted one has no parts at all', () => {
  const unsent = { attempts: 0, retry_wait_ms: null, connect_ms: null, ttfb_ms: null, ttft_ms: null }
  const refused = { ...streamed, ...unsent }
  assert.deepEqual(named({ ...refused, duration_ms: 11 }), {
    receive: [0, 1],
    queue: [1, 9],
    refusal: [10, 1],
  })
  assert.deepEqual(named({ ...refused, queue_ms: 0.6, duration_ms: 2 }), { receive: [0, 1], refusal: [1, 1] })
  assert.deepEqual(callPhases({ ...refused, duration_ms: null }), [])
})

// The database stores whole microseconds.
const ms = fc.option(fc.nat(1e9).map((us) => us / 1000))
const times = { receive_ms: ms, queue_ms: ms, retry_wait_ms: ms, connect_ms: ms, ttfb_ms: ms, ttft_ms: ms }
const anyCall: fc.Arbitrary<TimedCall> = fc.record({ ...times, attempts: fc.nat(4), duration_ms: ms })

test('the parts of any call follow each other and add up to its duration', () => {
  fc.assert(
    fc.property(anyCall, (call) => {
      const phases = callPhases(call)
      let atMs = 0
      for (const { startMs, lengthMs } of phases) {
        assert.equal(startMs, atMs)
        assert.ok(lengthMs >= 0)
        atMs += lengthMs
      }
      if (phases.length > 0) assert.ok(Math.abs(atMs - (call.duration_ms ?? 0)) < 1e-6)
    }),
  )
})

test('a bar stays in its room, whatever the scale, and has no two pieces of one part in a row', () => {
  fc.assert(
    fc.property(anyCall, fc.double({ min: 0.1, max: 1e6, noNaN: true }), (call, scaleMs) => {
      const pieces = barPieces(call, scaleMs)
      for (const [index, { part, start, length }] of pieces.entries()) {
        assert.ok(start >= 0 && length > 0 && start + length <= 1 + 1e-9)
        assert.notEqual(part, pieces[index - 1]?.part)
      }
    }),
  )
})

test('the scale is that of the longest call, unless it stands far apart', () => {
  const lasting = (durationMs: number | null): TimedCall => ({ ...streamed, duration_ms: durationMs })
  assert.equal(barScaleMs([]), 1)
  assert.equal(barScaleMs([lasting(null)]), 1)
  assert.equal(barScaleMs([lasting(100), lasting(830)]), 1000)
  const many = Array.from({ length: 99 }, () => lasting(1900))
  assert.equal(barScaleMs([...many, lasting(60_000)]), 2000)
  assert.equal(barScaleMs([...many, lasting(2100)]), 2500)
})
