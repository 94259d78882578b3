import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretToken } from '../../lib/secret-token.ts'
import { type RawLogVisit, rawLogRefusal } from './raw-log-access.ts'

const token = 'a-token-of-the-admin'
const plain: RawLogVisit = {
  host: '127.0.0.1:9090',
  origin: null,
  secFetchSite: null,
  forwardedFor: false,
  adminToken: null,
}

/** What is refused, with `null` for nothing: without an admin token, and with one that the request does not bring. */
function refusals(visit: Partial<RawLogVisit>, address: string | undefined): (string | null)[] {
  return [null, new SecretToken(token)].map(
    (adminToken) => rawLogRefusal({ ...plain, ...visit }, address, adminToken)?.code ?? null,
  )
}

const local = ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']

test('programs on this machine are let in', () => {
  for (const address of local) {
    for (const host of ['127.0.0.1:9090', 'localhost', '[::1]:9090', 'tokenweir.localhost:1']) {
      assert.deepEqual(refusals({ host }, address), [null, null], `${address} ${host}`)
    }
  }
  assert.deepEqual(refusals({ secFetchSite: 'none' }, '::1'), [null, null])
  assert.deepEqual(refusals({ origin: 'http://127.0.0.1:9090', secFetchSite: 'same-origin' }, '::1'), [
    null,
    null,
  ])
})

test('others are not, unless they bring the token', () => {
  const elsewhere: [Partial<RawLogVisit>, string | undefined][] = [
    [{}, '192.0.2.1'],
    [{}, '::ffff:192.0.2.1'],
    [{}, 'fe80::1'],
    [{}, undefined],
    [{ host: '192.0.2.1:9090' }, '127.0.0.1'],
    [{ host: 'gateway.example' }, '127.0.0.1'],
    [{ host: null }, '127.0.0.1'],
    [{ forwardedFor: true }, '127.0.0.1'],
  ]
  for (const [visit, address] of elsewhere) {
    assert.deepEqual(refusals(visit, address), ['forbidden', 'forbidden'], JSON.stringify([visit, address]))
    const withToken = { ...plain, ...visit, adminToken: token }
    assert.equal(rawLogRefusal(withToken, address, new SecretToken(token)), null)
    assert.equal(rawLogRefusal(withToken, address, null)?.code, 'forbidden')
    for (const guess of ['', `${token}x`, token.slice(1), token.toUpperCase()]) {
      const refused = rawLogRefusal({ ...withToken, adminToken: guess }, address, new SecretToken(token))
      assert.match(refused?.message ?? '', /x-tokenweir-admin-token/)
    }
  }
})

test("other sites' pages are never let in, not even with the token", () => {
  for (const visit of [
    { secFetchSite: 'cross-site' },
    { secFetchSite: 'same-site' },
    { origin: 'http://evil.example' },
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'null' },
  ]) {
    const refusal = rawLogRefusal(
      { ...plain, ...visit, adminToken: token },
      '127.0.0.1',
      new SecretToken(token),
    )
    assert.equal(refusal?.code, 'forbidden', JSON.stringify(visit))
  }
})
