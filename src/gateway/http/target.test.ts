import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../call/failure.ts'
import { forwardedPath, parseTarget, parseUpstreamBase, upstreamPath } from './target.ts'

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
  ['https://host/api/v3', '/props', '/api/v3/props'],
  ['http://localhost:11434', '/rerank', '/rerank'],
  ['http://localhost:11434/', '/v1/models', '/v1/models'],
]

for (const [base, target, path] of bases) {
  test(`${target} on ${base} is asked as ${path}`, () => {
    assert.equal(upstreamPath(parseUpstreamBase(base), parseTarget(target)), path)
  })
}

test('an upstream with credentials, a query or another scheme is refused', () => {
  for (const base of ['http://u:p@host', 'http://host/?a=1', 'ftp://host', 'host:80', '']) {
    assert.throws(() => parseUpstreamBase(base), TypeError)
  }
})

const chatCompletions = { name: '/v1/chat/completions', callType: 'chat', inference: true }
const other = { name: '', callType: 'other', inference: false }

test('paths are told apart by what they ask for', () => {
  assert.deepEqual(forwardedPath('/v1/chat/completions', 'POST'), chatCompletions)
  assert.deepEqual(forwardedPath('/v1/models', 'POST'), {
    name: '/v1/models',
    callType: 'props',
    inference: false,
  })
  assert.deepEqual(forwardedPath('/v1/models/org/name', 'POST'), {
    name: '',
    callType: 'props',
    inference: false,
  })
  assert.deepEqual(forwardedPath('/v1/audio/speech', 'POST'), other)
  assert.deepEqual(forwardedPath('/v1/responses/abc', 'POST'), other)
  assert.deepEqual(forwardedPath('/v1/chat', 'POST'), other)
  for (const method of ['OPTIONS', 'HEAD', 'GET', 'DELETE']) {
    assert.deepEqual(forwardedPath('/v1/chat/completions', method), other)
    assert.deepEqual(forwardedPath('/v1/chat//completions', method), other)
    assert.deepEqual(forwardedPath('/props', method), { name: '/props', callType: 'props', inference: false })
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
  ]) {
    assert.equal(forwardedPath(own, 'GET'), null)
  }
})

for (const path of [
  '/v1//chat/completions',
  '/v1/chat//completions',
  '/v1/chat/completions/',
  '/v1/chat/completions//',
  '/v1/chat%2Fcompletions',
  '/v1/%63hat/completions',
  '/v1/Chat/Completions',
]) {
  test(`${path} is a chat completion to some upstream, and is asked for as it is`, () => {
    assert.deepEqual(forwardedPath(path, 'POST'), chatCompletions)
    assert.equal(upstreamPath(parseUpstreamBase('http://127.0.0.1:8080'), parseTarget(path)), path)
  })
}
