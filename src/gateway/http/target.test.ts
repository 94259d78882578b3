import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../call/failure.ts'
import { isForwarded, parseTarget, pathBelowBase, parseUpstreamBase, upstreamPath } from './target.ts'

const forwardedAsTheyAre: readonly [target: string, path: string][] = [
  ['/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/models?limit=5&after=%2F..', '/v1/models?limit=5&after=%2F..'],
  ['/v1/models/org%2Fname', '/v1/models/org%2Fname'],
  ['/v1/models/org/name.v1..2', '/v1/models/org/name.v1..2'],
  ['/v1/models/name:tag@1.5', '/v1/models/name:tag@1.5'],
  ['/v1/files/a.b/.hidden', '/v1/files/a.b/.hidden'],
  ['/v1/a?', '/v1/a?'],
  ['/v1//double', '/v1//double'],
  ['http://elsewhere.example:81/v1/models?x=1', '/v1/models?x=1'],
  ['/v1/caf\xe9', '/v1/caf\xe9'],
]

for (const [target, path] of forwardedAsTheyAre) {
  test(`${target} is asked of a base without a path as it is`, () => {
    const parsed = parseTarget(target)
    assert.equal(upstreamPath(parseUpstreamBase('http://127.0.0.1:8080'), parsed), path)
  })
}

const refused = [
  '/v1/../admin',
  '/v1/./models',
  '/v1/models/..',
  '/v1/%2e%2e/admin',
  '/v1/%2E./admin',
  '/v1/a%2F..%2Fb',
  '/v1/a\\b',
  '/v1/a%5Cb',
  '/v1/a%00b',
  '/v1/100%',
  '/v1/%zz',
  '/v1/a#b',
  '/v1/a?b#c',
  '*',
  'ftp://host/v1/models',
  'host:443',
  '',
]

for (const target of refused) {
  test(`${JSON.stringify(target)} is refused`, () => {
    assert.throws(
      () => parseTarget(target),
      (error) => error instanceof Failure && error.code === 'invalid_request',
    )
  })
}

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
  const below = (base: string, path: string): string | null => pathBelowBase(parseUpstreamBase(base), path)
  assert.equal(below('https://h/openai/v1', '/openai/v1/models'), '/v1/models')
  assert.equal(below('https://h/openai/v1', '/openai/v1x/models'), null)
  assert.equal(below('https://h/openai/v1', '/health'), null)
  assert.equal(below('https://h/v1', '/v1/raw-log/clear'), null)
  assert.equal(below('https://h', '/models'), null)
})

test('what is forwarded without the name of an upstream', () => {
  for (const path of [
    '/v1/',
    '/v1/x',
    '/v1//x',
    '/rerank',
    '/reranking',
    '/v2/rerank',
    '/props',
    '/v1/raw-logs',
  ]) {
    assert.ok(isForwarded(path), path)
  }
  for (const own of [
    '/v1',
    '/',
    '/health',
    '/v1/raw-log',
    '/v1/raw-log/status',
    '//evil.example/v1/models',
    '//v1/chat/completions',
    '/V1/chat/completions',
    '/%761/chat/completions',
    '/rerank/',
    '/v2/chat',
  ]) {
    assert.ok(!isForwarded(own), own)
  }
})
