import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { CallIds, firstIdAt, formatCallId, idsPerMs, parseCallId, startedAtMs } from './call-id.ts'

const anyId = fc.maxSafeNat()

test('an id comes back from its text, which is 11 characters long', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      const text = formatCallId(id)
      assert.match(text, /^[0-9a-hjkmnp-tv-z]{11}$/)
      assert.equal(parseCallId(text), id)
    }),
  )
})

test('texts sort as ids do', () => {
  fc.assert(fc.property(anyId, anyId, (a, b) => assert.equal(a < b, formatCallId(a) < formatCallId(b))))
})

test('what is no id is none', () => {
  for (const text of ['', '0', '00000000000x', 'u0000000000', 'zzzzzzzzzzz', '0000000000!']) {
    assert.equal(parseCallId(text), null)
  }
})

test('ids rise, are unique within a millisecond and beyond, and tell their time', () => {
  const ids = new CallIds(() => 1_800_000_000_000, 3)
  const callIds = Array.from({ length: 1000 }, () => ids.next())
  assert.deepEqual(
    callIds,
    [...new Set(callIds)].toSorted((a, b) => a - b),
  )
  assert.equal(startedAtMs(callIds[0] ?? 0), 1_800_000_000_000)
  assert.equal(startedAtMs(callIds[999] ?? 0), 1_800_000_000_015)
})

test('two instances never give the same id in the same millisecond', () => {
  const wallTime = (): number => 1_800_000_000_000
  const [one, two] = [new CallIds(wallTime, 1), new CallIds(wallTime, 2)]
  const callIds = Array.from({ length: 500 }, () => [one.next(), two.next()]).flat()
  assert.equal(new Set(callIds).size, 1000)
})

test('a small step back of the clock is waited out, a large one followed without giving an id twice', () => {
  let nowMs = 1_800_000_000_000
  const ids = new CallIds(() => nowMs, 0)
  const first = ids.next()
  nowMs -= 500
  const held = ids.next()
  assert.ok(held > first)
  assert.equal(startedAtMs(held), 1_800_000_000_000)
  nowMs -= 3_600_000
  const before = Array.from({ length: 50 }, () => ids.next())
  nowMs += 3_600_500
  const again = Array.from({ length: 50 }, () => ids.next())
  assert.equal(startedAtMs(before[0] ?? 0), 1_800_000_000_000 - 3_600_500)
  assert.equal(new Set([first, held, ...before, ...again]).size, 102)
})

test('the first id of an instant is below all ids of that instant', () => {
  const ids = new CallIds(() => 5000, 0)
  assert.ok(firstIdAt(5000) <= ids.next())
  assert.equal(firstIdAt(5001) - firstIdAt(5000), idsPerMs)
})
