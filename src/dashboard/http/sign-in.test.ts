import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SignIn } from './sign-in.ts'

const minuteMs = 60_000

test('a code is good once', () => {
  const signIn = new SignIn('a token of some length', new FakeClock())
  const code = signIn.newCode()
  assert.match(code, /^[\w-]{43}$/)
  assert.equal(signIn.byCode('x') !== null, false)
  assert.equal(signIn.byCode(code) !== null, true)
  assert.equal(signIn.byCode(code) !== null, false)
})

test('a code is good for a quarter of an hour, whatever the wall clock does', () => {
  const clock = new FakeClock()
  const signIn = new SignIn('a token of some length', clock)
  const [first, second] = [signIn.newCode(), signIn.newCode()]
  clock.stepWallTime(-60 * minuteMs)
  clock.tick(15 * minuteMs - 1)
  assert.equal(signIn.byCode(first) !== null, true)
  clock.tick(1)
  assert.equal(signIn.byCode(second) !== null, false)
})

test('only the last few codes are open', () => {
  const signIn = new SignIn('a token of some length', new FakeClock())
  const issued = Array.from({ length: 5 }, () => signIn.newCode())
  assert.deepEqual(
    issued.map((code) => signIn.byCode(code) !== null),
    [false, true, true, true, true],
  )
})
