import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { errorParts } from '../../src/dashboard/http/answer.ts'
import { type ErrorCode, RequestError, errorStatuses } from '../../src/dashboard/http/request-error.ts'
import { exchangeBytes } from '../support/exchange.ts'
import type { RawResponse } from '../support/raw-response.ts'
import type { HeaderLines } from '../support/response-bytes.ts'
import { adminToken, errorOf, iconOf, startDashboard } from './dashboard-under-test.ts'

const json: HeaderLines = [['Content-Type', 'application/json']]

/** Headers that every answer has, whatever it is. */
function assertSafe(answer: RawResponse, what: string): void {
  assert.equal(
    answer.header('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    what,
  )
  assert.equal(answer.header('x-content-type-options'), 'nosniff', what)
  assert.equal(answer.header('referrer-policy'), 'no-referrer', what)
  assert.equal(answer.header('cross-origin-resource-policy'), 'same-origin', what)
  assert.equal(answer.header('cross-origin-opener-policy'), 'same-origin', what)
  assert.equal(answer.header('x-frame-options'), 'DENY', what)
  for (const name of answer.rawHeaders.filter((_, at) => at % 2 === 0)) {
    assert.doesNotMatch(name, /^(?:access-control-.*|server|x-powered-by)$/i, what)
  }
}

test('whoever comes while a file is being changed is told when to come again', () => {
  const busy = (Object.keys(errorStatuses) as ErrorCode[]).filter((code) => code.endsWith('_busy'))
  assert.ok(busy.length > 0)
  for (const code of busy) {
    assert.equal(errorParts(new RequestError(code, '')).headers['Retry-After'], '1', code)
  }
})

interface Flaw {
  readonly what: string
  readonly method: string
  readonly target: string
  readonly headers?: HeaderLines
  readonly body?: string
  readonly status: number
  readonly code: string
  readonly param?: string | null
  readonly message?: RegExp
}

const start = { method: 'POST', target: '/api/proxy/start', headers: json }
const config = { method: 'PUT', target: '/api/proxy/config', headers: json }

const flaws: readonly Flaw[] = [
  { what: 'unknown path', method: 'GET', target: '/api/nothing', status: 404, code: 'not_found' },
  { what: 'unknown file', method: 'GET', target: '/assets/nothing.js', status: 404, code: 'not_found' },
  {
    what: 'path out of the folder',
    method: 'GET',
    target: '/assets/..%2fpackage.json',
    status: 404,
    code: 'not_found',
  },
  { what: 'file of no kind', method: 'GET', target: '/assets/tsconfig.json', status: 404, code: 'not_found' },
  { what: 'inherited name', method: 'GET', target: '/assets/constructor', status: 404, code: 'not_found' },
  {
    what: 'unknown path, POST',
    method: 'POST',
    target: '/x',
    headers: [['Content-Type', 'a/b']],
    body: 'x',
    status: 404,
    code: 'not_found',
  },
  {
    what: 'path with a slash too many',
    method: 'GET',
    target: '/api/proxy/status/',
    status: 404,
    code: 'not_found',
  },
  {
    what: 'path in another case',
    method: 'GET',
    target: '/API/proxy/status',
    status: 404,
    code: 'not_found',
  },
  { what: 'broken escape', method: 'GET', target: '/api/%zz', status: 400, code: 'invalid_target' },
  {
    what: 'endless parameter',
    method: 'GET',
    target: `/assets/${'a'.repeat(2001)}`,
    status: 414,
    code: 'invalid_target',
  },
  { what: 'unknown method', method: 'PROPFIND', target: '/', status: 501, code: 'unknown_method' },
  { what: 'body that is no JSON', ...start, body: '{', status: 400, code: 'invalid_json' },
  { what: '__proto__', ...start, body: '{"__proto__":{"port":1}}', status: 400, code: 'invalid_json' },
  { what: '__proto__ below', ...start, body: '{"a":{"__proto__":1}}', status: 400, code: 'invalid_json' },
  {
    what: 'constructor.prototype',
    ...start,
    body: '{"constructor":{"prototype":{"x":1}}}',
    status: 400,
    code: 'invalid_json',
  },
  {
    what: 'body of another kind',
    ...start,
    body: '[]',
    status: 400,
    code: 'invalid_body',
    param: null,
    message: /The body must be an object/,
  },
  { what: 'body in an array', ...start, body: '[{"port":1}]', status: 400, code: 'invalid_body' },
  { what: 'no body where one is needed', ...config, status: 400, code: 'invalid_body' },
  {
    what: 'value that is null',
    ...config,
    body: '{"port":null}',
    status: 400,
    code: 'invalid_body',
    param: 'port',
    message: /port must be a number, a text, true or false; it is null/,
  },
  {
    what: 'value that is an object',
    ...config,
    body: '{"port":{}}',
    status: 400,
    code: 'invalid_body',
    param: 'port',
  },
  {
    what: 'text',
    ...start,
    headers: [['Content-Type', 'text/plain']],
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
  },
  { what: 'no content type', ...start, headers: [], body: '{}', status: 415, code: 'unsupported_media_type' },
  {
    what: 'broken content type',
    ...start,
    headers: [['Content-Type', 'x']],
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    what: 'something like JSON',
    ...start,
    headers: [['Content-Type', 'application/jsonx']],
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    what: 'unknown parameter',
    method: 'GET',
    target: '/api/proxy/logs?line=1',
    status: 400,
    code: 'unknown_parameter',
    param: 'line',
    message: /known are lines/,
  },
  {
    what: 'parameter where there is none',
    method: 'GET',
    target: '/api/proxy/status?x=1',
    status: 400,
    code: 'unknown_parameter',
    param: 'x',
  },
  {
    what: 'parameter of an operation',
    method: 'POST',
    target: '/api/proxy/stop?force=1',
    status: 400,
    code: 'unknown_parameter',
    param: 'force',
  },
  {
    what: 'parameter out of range',
    method: 'GET',
    target: '/api/proxy/logs?lines=5001',
    status: 400,
    code: 'invalid_parameter',
    param: 'lines',
    message: /a whole number from 1 to 5,000; got "5001"/,
  },
  {
    what: 'parameter twice',
    method: 'GET',
    target: '/api/proxy/logs?lines=1&lines=2',
    status: 400,
    code: 'invalid_parameter',
    param: 'lines',
  },
  {
    what: 'inherited parameter',
    method: 'GET',
    target: '/api/proxy/logs?__proto__=1',
    status: 400,
    code: 'unknown_parameter',
    param: '__proto__',
  },
  {
    what: 'two Hosts',
    method: 'GET',
    target: '/',
    headers: [['Host', 'localhost']],
    status: 400,
    code: 'invalid_host',
  },
]

test('every error has the one shape and the headers of all answers', async () => {
  await using dashboard = await startDashboard({ adminToken })
  for (const { what, method, target, headers = [], body, status, code, param, message } of flaws) {
    const answer = await dashboard.ask(method, target, { headers, ...(body === undefined ? {} : { body }) })
    assertSafe(answer, what)
    assert.equal(answer.header('content-type'), 'application/json; charset=utf-8', what)
    assert.equal(answer.header('cache-control'), 'no-store', what)
    const parsed = JSON.parse(answer.body.toString()) as {
      error: { code: string; message: string; param: unknown }
    }
    assert.deepEqual(Object.keys(parsed), ['error'], what)
    assert.deepEqual(Object.keys(parsed.error), ['code', 'message', 'param'], what)
    assert.deepEqual([answer.status, parsed.error.code], [status, code], `${what}: ${parsed.error.message}`)
    assert.match(parsed.error.message, message ?? /./, what)
    if (param !== undefined) assert.equal(parsed.error.param, param, what)
    else assert.ok(parsed.error.param === null || typeof parsed.error.param === 'string')
  }
  assert.deepEqual(dashboard.gateway.asked, [])
  assert.deepEqual(dashboard.faults, [])
  assert.equal(({} as Record<string, unknown>)['port'], undefined)
})

test('a known path with another method is 405 with what it takes', async () => {
  await using dashboard = await startDashboard()
  const paths: readonly [target: string, allow: string][] = [
    ['/', 'GET, HEAD'],
    ['/calls', 'GET, HEAD'],
    ['/assets/icon.svg', 'GET, HEAD'],
    ['/api/proxy/status', 'GET, HEAD'],
    ['/api/proxy/start', 'POST'],
    ['/api/proxy/config', 'GET, HEAD, PUT'],
    ['/api/session', 'POST, DELETE'],
    ['/api/events', 'GET, HEAD'],
  ]
  for (const [target, allow] of paths) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      if (allow.split(', ').includes(method)) continue
      const headers: HeaderLines = [['Content-Type', 'text/plain']]
      const answer = await dashboard.ask(method, target, method === 'TRACE' ? {} : { headers, body: 'x' })
      assert.deepEqual([answer.status, answer.header('allow')], [405, allow], `${method} ${target}`)
      assertSafe(answer, target)
    }
  }
  assert.deepEqual(dashboard.gateway.asked, [])
})

test('HEAD answers as GET does, without the body', async () => {
  await using dashboard = await startDashboard()
  const icon = await iconOf(dashboard)
  for (const target of ['/', '/calls', icon, '/api/proxy/status', '/api/proxy/logs', '/api/nothing']) {
    const [get, head] = [await dashboard.ask('GET', target), await dashboard.ask('HEAD', target)]
    assert.equal(head.status, get.status, target)
    assert.equal(head.header('content-length'), get.header('content-length'), target)
    assertSafe(head, target)
  }
})

test('a Host is judged by the guard alone: a port that no URL has, and capitals, are answered as ever', async () => {
  await using dashboard = await startDashboard()
  for (const host of ['127.0.0.1:99999', 'localhost:99999', 'LOCALHOST']) {
    const answer = await dashboard.ask('GET', '/api/proxy/status', { host })
    assert.equal(answer.status, 200, host)
  }
})

test('every other answer has the headers too', async () => {
  await using dashboard = await startDashboard({ adminToken })
  const icon = await iconOf(dashboard)
  for (const target of ['/', icon, '/api/proxy/status', dashboard.server.signInLink()]) {
    const answer = await dashboard.ask('GET', target)
    assert.equal(answer.status, 200, target)
    assertSafe(answer, target)
  }
  assertSafe(await dashboard.askJson('POST', '/api/session', { token: adminToken }), 'signing in')
  assertSafe(await dashboard.ask('GET', '/', { headers: [['Origin', 'http://evil.example']] }), 'cross-site')
  assertSafe(await dashboard.ask('GET', '/', { host: 'evil.example' }), 'rebound')
  const expecting = await dashboard.ask('GET', '/api/proxy/status', { headers: [['Expect', 'x']] })
  assert.equal(expecting.status, 200)
  assertSafe(expecting, 'an unknown expectation')
  const malformed = await exchangeBytes(dashboard.port, 'x\r\n\r\n')
  assert.deepEqual([malformed.status, errorOf(malformed).code], [400, 'invalid_request'])
  assertSafe(malformed, 'malformed')
})

test('a file is not sent again to a browser that has it', async () => {
  await using dashboard = await startDashboard()
  const icon = await iconOf(dashboard)
  const cases = [
    { target: '/', control: 'no-cache', type: 'text/html; charset=utf-8' },
    { target: '/calls?model=a', control: 'no-cache', type: 'text/html; charset=utf-8' },
    { target: icon, control: 'public, max-age=31536000, immutable', type: 'image/svg+xml' },
  ]
  for (const { target, control, type } of cases) {
    const first = await dashboard.ask('GET', target)
    assert.deepEqual([first.header('cache-control'), first.header('content-type')], [control, type], target)
    const headers: HeaderLines = [['If-None-Match', first.header('etag')!]]
    const again = await dashboard.ask('GET', target, { headers })
    assert.deepEqual(
      [again.status, again.body.length, again.header('cache-control')],
      [304, 0, control],
      target,
    )
    const other = await dashboard.ask('GET', target, { headers: [['If-None-Match', '"x"']] })
    assert.equal(other.status, 200, target)
  }
})

test('a file is sent packed to who takes that, and is the same', async () => {
  await using dashboard = await startDashboard()
  const page = (await dashboard.ask('GET', '/')).body.toString()
  const [, script = ''] = /src="(\/assets\/index-[\w-]+\.js)"/.exec(page) ?? []
  const plain = await dashboard.ask('GET', script)
  assert.deepEqual([plain.header('content-encoding'), plain.header('vary')], [undefined, 'Accept-Encoding'])
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync } as const
  const tags = new Set([plain.header('etag')])
  for (const coding of ['br', 'gzip'] as const) {
    const headers: HeaderLines = [['Accept-Encoding', coding]]
    const packed = await dashboard.ask('GET', script, { headers })
    assert.equal(packed.header('content-encoding'), coding)
    assert.ok(packed.body.length < plain.body.length / 2)
    assert.ok(unpack[coding](packed.body).equals(plain.body), coding)
    tags.add(packed.header('etag'))
    const known: HeaderLines = [...headers, ['If-None-Match', plain.header('etag')!]]
    assert.equal((await dashboard.ask('GET', script, { headers: known })).status, 304)
  }
  assert.equal(tags.size, 3)
})
