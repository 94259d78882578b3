import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { errorParts } from '../../src/dashboard/http/answer.ts'
import { type ErrorCode, RequestError, errorStatuses } from '../../src/dashboard/http/request-error.ts'
import { exchangeBytes } from '../support/exchange.ts'
import type { RawResponse } from '../support/raw-response.ts'
import type { HeaderLines } from '../support/response-bytes.ts'
import { adminToken, errorOf, startDashboard, styleOf } from './dashboard-under-test.ts'

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
  readonly headers?: HeaderLines
  readonly body?: string
  readonly param?: string | null
  readonly message?: RegExp
}

const start = 'POST /api/proxy/start'
const config = 'PUT /api/proxy/config'
const logs = 'GET /api/proxy/logs'
const endless = `GET /assets/${'a'.repeat(2001)}`
const typed = (type: string): HeaderLines => [['Content-Type', type]]

const flaws: readonly [what: string, route: string, told: string, flaw?: Flaw][] = [
  ['unknown path', 'GET /api/nothing', '404 not_found'],
  [
    "a call that is the gateway's",
    'POST /v1/chat/completions',
    '404 not_found',
    { headers: json, body: '{}', message: /calls go to the gateway, on port 9090 by default/ },
  ],
  ['unknown file', 'GET /assets/nothing.js', '404 not_found'],
  ['path out of the folder', 'GET /assets/..%2fpackage.json', '404 not_found'],
  ['file of no kind', 'GET /assets/tsconfig.json', '404 not_found'],
  ['inherited name', 'GET /assets/constructor', '404 not_found'],
  ['unknown path, POST', 'POST /x', '404 not_found', { headers: typed('a/b'), body: 'x' }],
  ['path with a slash too many', 'GET /api/proxy/status/', '404 not_found'],
  ['path in another case', 'GET /API/proxy/status', '404 not_found'],
  ['broken escape', 'GET /api/%zz', '400 invalid_target'],
  ['endless parameter', endless, '414 invalid_target'],
  ['unknown method', 'PROPFIND /', '501 unknown_method'],
  ['body that is no JSON', start, '400 invalid_json', { body: '{' }],
  ['__proto__', start, '400 invalid_json', { body: '{"__proto__":{"port":1}}' }],
  ['__proto__ below', start, '400 invalid_json', { body: '{"a":{"__proto__":1}}' }],
  ['constructor.prototype', start, '400 invalid_json', { body: '{"constructor":{"prototype":{"x":1}}}' }],
  [
    'body of another kind',
    start,
    '400 invalid_body',
    { body: '[]', param: null, message: /The body must be an object/ },
  ],
  ['body in an array', start, '400 invalid_body', { body: '[{"port":1}]' }],
  ['no body where one is needed', config, '400 invalid_body', { headers: json }],
  [
    'value that is null',
    config,
    '400 invalid_body',
    {
      body: '{"port":null}',
      param: 'port',
      message: /port must be a number, a text, true or false; it is null/,
    },
  ],
  ['value that is an object', config, '400 invalid_body', { body: '{"port":{}}', param: 'port' }],
  ['text', start, '415 unsupported_media_type', { headers: typed('text/plain'), body: '{}' }],
  ['no content type', start, '415 unsupported_media_type', { headers: [], body: '{}' }],
  ['broken content type', start, '415 unsupported_media_type', { headers: typed('x'), body: '{}' }],
  [
    'something like JSON',
    start,
    '415 unsupported_media_type',
    { headers: typed('application/jsonx'), body: '{}' },
  ],
  [
    'unknown parameter',
    `${logs}?line=1`,
    '400 unknown_parameter',
    { param: 'line', message: /known are lines/ },
  ],
  ['parameter where there is none', 'GET /api/proxy/status?x=1', '400 unknown_parameter', { param: 'x' }],
  ['parameter of an operation', 'POST /api/proxy/stop?force=1', '400 unknown_parameter', { param: 'force' }],
  [
    'parameter out of range',
    `${logs}?lines=5001`,
    '400 invalid_parameter',
    { param: 'lines', message: /a whole number from 1 to 5,000; got "5001"/ },
  ],
  ['parameter twice', `${logs}?lines=1&lines=2`, '400 invalid_parameter', { param: 'lines' }],
  ['inherited parameter', `${logs}?__proto__=1`, '400 unknown_parameter', { param: '__proto__' }],
  ['two Hosts', 'GET /', '400 invalid_host', { headers: [['Host', 'localhost']] }],
]

test('every error has the one shape and the headers of all answers', async () => {
  await using dashboard = await startDashboard({ adminToken })
  for (const [what, route, told, flaw = {}] of flaws) {
    const { body, headers = body === undefined ? [] : json, param, message } = flaw
    const [method = '', target = ''] = route.split(' ')
    const answer = await dashboard.ask(method, target, { headers, ...(body === undefined ? {} : { body }) })
    assertSafe(answer, what)
    assert.equal(answer.header('content-type'), 'application/json; charset=utf-8', what)
    assert.equal(answer.header('cache-control'), 'no-store', what)
    const parsed = JSON.parse(answer.body.toString()) as {
      error: { code: string; message: string; param: unknown }
    }
    assert.deepEqual(Object.keys(parsed), ['error'], what)
    assert.deepEqual(Object.keys(parsed.error), ['code', 'message', 'param'], what)
    assert.equal(`${answer.status} ${parsed.error.code}`, told, `${what}: ${parsed.error.message}`)
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
  const style = await styleOf(dashboard)
  for (const target of ['/', '/calls', style, '/api/proxy/status', '/api/proxy/logs', '/api/nothing']) {
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
  const style = await styleOf(dashboard)
  for (const target of ['/', style, '/api/proxy/status', dashboard.server.signInLink()]) {
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
  const style = await styleOf(dashboard)
  const cases = [
    { target: '/', control: 'no-cache', type: 'text/html; charset=utf-8' },
    { target: '/calls?model=a', control: 'no-cache', type: 'text/html; charset=utf-8' },
    { target: style, control: 'public, max-age=31536000, immutable', type: 'text/css; charset=utf-8' },
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
