import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SignIn } from './sign-in.ts'

function signInAt(wallTimeMs: number, token: string = 'the token'): SignIn {
  const clock = new FakeClock()
  clock.stepWallTime(wallTimeMs - clock.wallTime())
  return new SignIn(token, clock)
}

const now = Date.UTC(2026, 10, 21, 6)
const dayMs = 24 * 60 * 60 * 1000
const ours = signInAt(now)
const others = signInAt(now, 'another').byToken('another')!.split(';', 1)[0]!
const issued = ours.byToken('the token')!
const pair = issued.split(';', 1)[0]!
const [name, expiry, signature] = pair.split(/[=.]/) as [string, string, string]

test('the cookie is for this site and for no script, and lasts 30 days', () => {
  assert.match(
    issued,
    /^tokenweir_session_[\da-f]{8}=\d{10}\.[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000$/,
  )
  assert.equal(ours.signOut(), `${name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`)
})

const cases: readonly [what: string, header: string | null, atMs: number, good: boolean][] = [
  ['as it was issued', pair, now, true],
  ['among others', `a=1; ${pair};b=2`, now, true],
  ['after a bad one of the same name', `${name}=x; ${pair}`, now, true],
  ['just before its end', pair, now + 30 * dayMs - 1, true],
  ['at its end', pair, now + 30 * dayMs, false],
  ['no header', null, now, false],
  ['an empty header', '', now, false],
  ['an empty value', `${name}=`, now, false],
  ['under another name', `x${pair}`, now, false],
  ['with a later end', `${name}=${Number(expiry) + 1}.${signature}`, now, false],
  ['with the end in another spelling', `${name}=0${expiry}.${signature}`, now, true],
  ['with another signature', `${name}=${expiry}.${'A'.repeat(43)}`, now, false],
  ['with a cut signature', `${name}=${expiry}.${signature.slice(0, 42)}`, now, false],
  ['with bytes outside ASCII', `${name}=${expiry}.${'é'.repeat(43)}`, now, false],
  ['of another token', others, now, false],
  ['of another token, under our name', others.replace(/^[^=]+/, name), now, false],
]

for (const [what, header, atMs, good] of cases) {
  test(`${what}: ${good ? 'good' : 'not good'}`, () =>
    assert.equal(signInAt(atMs).isShownBy(null, header), good))
}

test('it outlives a restart', () => {
  assert.equal(signInAt(now).isShownBy(null, pair), true)
})
