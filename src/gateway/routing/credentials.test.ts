import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersWithoutCredentials, keyHeader, queryWithoutCredentials } from './credentials.ts'

for (const [host, header] of [
  ['api.openai.com', ['Authorization', 'Bearer k']],
  ['api.anthropic.com', ['x-api-key', 'k']],
  ['api.anthropic.com.example', ['Authorization', 'Bearer k']],
] as const) {
  test(`the key is lent to ${host} as ${header[0]}`, () => assert.deepEqual(keyHeader('k', host), header))
}

test('without a key no header is lent', () => {
  assert.deepEqual([keyHeader(null, 'a'), keyHeader('', 'a')], [[], []])
})

test("a client's credentials are taken out of copies, and the client's own headers stay", () => {
  const headers = ['Accept', '*/*', 'Authorization', 'Bearer secret', 'X-Api-Key', 'secret']
  assert.deepEqual(headersWithoutCredentials(headers, []), ['Accept', '*/*'])
  assert.equal(headers.length, 6)
  assert.equal(queryWithoutCredentials('?a=1&api_key=secret&b=2'), '?a=1&b=2')
  assert.equal(queryWithoutCredentials('?api_key=secret'), '')
})
