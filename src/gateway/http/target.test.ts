import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forwardedPath, parseTarget, parseUpstreamBase, upstreamPath } from './target.ts'

const bases: readonly [base: string, target: string, path: string][] = [
  ['https://api.openai.com/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['https://host/api/v3', '/v1/chat/completions', '/api/v3/chat/completions'],
  ['https://host/api/v3/', '/v1/models?a=b', '/api/v3/models?a=b'],
  ['https://host/api/v3', '/rerank', '/api/v3/rerank'],
  ['https://host/api/v3', '/v2/rerank', '/api/v3/rerank'],
  ['https://host', '/v2/rerank', '/v2/rerank'],
  ['https://host/api/v3', '/props', '/api/v3/props'],
  ['http://localhost:11434', '/rerank', '/rerank'],
  ['https://h/openai/v1?api-version=preview', '/v1/responses', '/openai/v1/responses?api-version=preview'],
  [
    'https://h/openai/v1?api-version=1&b=2',
    '/v1/models?api-version=3',
    '/openai/v1/models?api-version=3&b=2',
  ],
  ['https://h?a=1', '/v1/models?', '/v1/models?a=1'],
  ['http://localhost:11434/', '/v1/models', '/v1/models'],
  ['http://127.0.0.1:8080', '/v1/caf\xe9', '/v1/caf\xe9'],
]

for (const [base, target, path] of bases) {
  test(`${target} on ${base} is asked as ${path}`, () => {
    assert.equal(upstreamPath(parseUpstreamBase(base), parseTarget(target)), path)
  })
}

test('an upstream with credentials, a fragment or another scheme is refused', () => {
  for (const base of ['http://u:p@host', 'http://host/#a', 'ftp://host', 'host:80', '']) {
    assert.throws(() => parseUpstreamBase(base), TypeError)
  }
})

test('a path below that of the base is the one below /v1, but for the gateway’s own', () => {
  const below = (base: string, path: string): string | null => forwardedPath(parseUpstreamBase(base), path)
  assert.equal(below('https://h/openai/v1', '/openai/v1/models'), '/v1/models')
  assert.equal(below('https://h/openai/v1', '/openai/v1x/models'), null)
  assert.equal(below('https://h/openai/v1', '/health'), null)
  assert.equal(below('https://h/v1', '/v1/raw-log/clear'), null)
  assert.equal(below('https://h/v1', '/v1/raw-log'), null)
  assert.equal(below('https://h/v1', '/v1/models'), '/v1/models')
  assert.equal(below('https://h', '/models'), null)
})
