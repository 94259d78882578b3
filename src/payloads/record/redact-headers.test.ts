import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { headerRedaction } from './redact-headers.ts'

const salt = Buffer.from('0123456789abcdef')
const jsonOf = headerRedaction(salt)

function redact(...headers: string[]): Record<string, unknown> {
  return JSON.parse(jsonOf(headers)) as Record<string, unknown>
}

function print(secret: string): string {
  return `hmac:${createHmac('sha256', salt).update(secret).digest('hex').slice(0, 8)}(${secret.length})`
}

const secretNames = `Proxy-Authorization Cookie Set-Cookie x-api-key API-KEY Ocp-Apim-Subscription-Key x-goog-api-key
  X-Amz-Security-Token x-tokenweir-admin-token x-client-secret-id X-Auth-Request-Email x-hub-signature x-db-password
  apikey Authentication X-JWT X-Session-Id Helicone-Auth X-Figma-Token Key private_key X_App_Key OK-ACCESS-PASSPHRASE`
for (const name of secretNames.split(/\s+/)) {
  test(`${name} is only a fingerprint and a length`, () => {
    assert.deepEqual(redact(name, 'any value'), { [name.toLowerCase()]: print('any value') })
  })
}

for (const scheme of ['Bearer', 'basic', 'AWS4-HMAC-SHA256', 'Token']) {
  test(`the scheme ${scheme} stays`, () => {
    assert.deepEqual(redact('Authorization', `${scheme}  abc, def=1`), {
      authorization: `${scheme} ${print('abc, def=1')}`,
    })
  })
}

test('a credential without a known scheme goes whole', () => {
  assert.deepEqual(redact('Authorization', 'sk-abc def'), { authorization: print('sk-abc def') })
  assert.deepEqual(redact('Authorization', 'Bearer'), { authorization: print('Bearer') })
  assert.deepEqual(redact('Authorization', ''), { authorization: '' })
})

test('all other headers are kept but for what looks like a credential', () => {
  const kept = [
    ['Content-Type', 'application/json', 'application/json'],
    ['X-Note', 'use sk-proj-abcdEFGH1234 now', 'use [secret] now'],
    ['Location', 'https://u:p@x.test/y?token=ab', 'https://[secret]@x.test/y?token=[secret]'],
    ['x-ratelimit-remaining-tokens', '1234', '1234'],
    ['WWW-Authenticate', 'Bearer realm="x"', 'Bearer realm="x"'],
    ['Idempotency-Key', 'stainless-node-retry-1a2b3c4d', 'stainless-node-retry-1a2b3c4d'],
    ['idempotency_key', 'one', 'one'],
  ] as const
  for (const [name, value, shown] of kept)
    assert.deepEqual(redact(name, value), { [name.toLowerCase()]: shown })
  assert.deepEqual(redact('x-sk-proj-abcdEFGH1234ijkl', 'v'), { 'x-[secret]': 'v' })
})

test('repeated headers have all their values, and no name does harm', () => {
  assert.equal(
    jsonOf('Set-Cookie a X 1 __proto__ p set-cookie b constructor c x 1 X "'.split(' ')),
    `{"set-cookie":["${print('a')}","${print('b')}"],"x":["1","1","\\""],"__proto__":"p","constructor":"c"}`,
  )
})

test('long values are redacted as short ones are', () => {
  const long = 'v'.repeat(5000)
  assert.deepEqual(redact('authorization', `Bearer ${long}`, 'x', long), {
    authorization: `Bearer ${print(long)}`,
    x: long,
  })
})
