import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { GuardedToken } from './guarded-token.ts'

const token = 'the token'
const owner = { address: '::ffff:127.0.0.1', forwardedFor: false }
const stranger = (n: number) => ({ address: `10.0.0.${n}`, forwardedFor: false })

test('so many wrong guesses of one address are looked at in a minute, and right ones as many as come', () => {
  const clock = new FakeClock()
  const guarded = new GuardedToken(token, () => clock.now())
  for (let i = 0; i < 100; i++) assert.ok(guarded.matches(token, stranger(1)))
  for (let i = 0; i < 10; i++) assert.ok(!guarded.matches(`wrong ${i}`, stranger(1)))
  assert.ok(!guarded.matches(token, stranger(1)))
  assert.equal(guarded.waitMs(stranger(1)), 60_000)
  assert.ok(guarded.matches(token, stranger(2)))
  clock.tick(60_000)
  assert.ok(guarded.matches(token, stranger(1)))
  for (const none of [null, undefined]) assert.ok(!guarded.matches(none, stranger(1)))
})

test('strangers share what they guess, and never keep out who asks on this machine', () => {
  const clock = new FakeClock()
  const guarded = new GuardedToken(token, () => clock.now())
  for (let i = 0; i < 500; i++) guarded.matches('wrong', stranger(i % 250))
  // A proxy on this machine speaks for anybody.
  for (let i = 0; i < 500; i++) guarded.matches('wrong', { ...owner, forwardedFor: true })
  assert.ok(!guarded.matches(token, stranger(251)))
  assert.ok(!guarded.matches(token, { ...owner, forwardedFor: true }))
  assert.ok(guarded.matches(token, owner))
  assert.ok(guarded.matches(token, { address: '127.0.0.2', forwardedFor: false }))
})
