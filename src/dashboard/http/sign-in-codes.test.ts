import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SignInCodes } from './sign-in-codes.ts'

const minuteMs = 60_000

test('a code is good once', () => {
  const codes = new SignInCodes(new FakeClock())
  const code = codes.issue()
  assert.match(code, /^[\w-]{43}$/)
  assert.equal(codes.redeem('x'), false)
  assert.equal(codes.redeem(code), true)
  assert.equal(codes.redeem(code), false)
})

test('a code is good for a quarter of an hour, whatever the wall clock does', () => {
  const clock = new FakeClock()
  const codes = new SignInCodes(clock)
  const [first, second] = [codes.issue(), codes.issue()]
  clock.stepWallTime(-60 * minuteMs)
  clock.tick(15 * minuteMs - 1)
  assert.equal(codes.redeem(first), true)
  clock.tick(1)
  assert.equal(codes.redeem(second), false)
})

test('only the last few codes are open', () => {
  const codes = new SignInCodes(new FakeClock())
  const issued = Array.from({ length: 5 }, () => codes.issue())
  assert.deepEqual(
    issued.map((code) => codes.redeem(code)),
    [false, true, true, true, true],
  )
})
