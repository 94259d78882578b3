import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeaderLines } from '../support/response-bytes.ts'
import { adminToken, errorOf, startDashboard } from './dashboard-under-test.ts'

const mutating: readonly [method: string, target: string, operation: string][] = [
  ['POST', '/api/proxy/start', 'start'],
  ['POST', '/api/proxy/stop', 'stop'],
  ['POST', '/api/proxy/restart', 'restart'],
  ['POST', '/api/proxy/clear-logs', 'clear'],
  ['PUT', '/api/proxy/config', 'configure'],
  ['POST', '/api/calls/0123456789a/cancel', 'cancel 0123456789a'],
  ['POST', '/api/session', 'session'],
  ['DELETE', '/api/session', 'session'],
  ['POST', '/api/raw-log/toggle', 'toggle'],
  ['POST', '/api/raw-log/clear', 'clear'],
  ['PUT', '/api/alerts', 'change'],
  ['POST', '/api/alerts/test', 'test'],
]

/** How another site's page can have a browser send a request, with what the browser says of it. */
const attacks: readonly { readonly what: string; readonly headers: HeaderLines; readonly body?: string }[] = [
  { what: 'without a body', headers: [['Origin', 'http://evil.example']] },
  { what: 'without CORS, old browser', headers: [['Origin', 'null']] },
  { what: 'without CORS, no Origin', headers: [['Sec-Fetch-Site', 'cross-site']] },
  { what: 'from another port', headers: [['Origin', 'http://localhost:3000']] },
  { what: 'from another port, same site', headers: [['Sec-Fetch-Site', 'same-site']] },
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json',
  ].map((type) => ({
    what: `JSON as ${type}`,
    headers: [
      ['Origin', 'http://evil.example'],
      ['Sec-Fetch-Site', 'cross-site'],
      ['Content-Type', type],
    ] satisfies HeaderLines,
    body: '{"upstream":"http://evil.example"}',
  })),
]

test("another site's page can do nothing", async () => {
  await using dashboard = await startDashboard({ adminToken })
  dashboard.log.lines = ['kept']
  for (const [method, target] of mutating) {
    for (const { what, headers, body } of attacks) {
      const answer = await dashboard.ask(method, target, { headers, ...(body === undefined ? {} : { body }) })
      assert.deepEqual(
        [answer.status, errorOf(answer).code],
        [403, 'cross_site'],
        `${method} ${target} ${what}`,
      )
      assert.equal(answer.header('access-control-allow-origin'), undefined)
    }
  }
  for (const target of ['/api/raw-log/recent', '/api/raw-log/stream', '/api/calls/0123456789a/payloads']) {
    for (const { headers } of attacks.filter(({ body }) => body === undefined)) {
      assert.equal((await dashboard.ask('GET', target, { headers })).status, 403, target)
    }
  }
  assert.deepEqual([dashboard.gateway.asked, dashboard.rawLog.asked], [[], []])
  assert.deepEqual(dashboard.log.lines, ['kept'])
})

test('a preflight is refused, and nothing allows another origin', async () => {
  await using dashboard = await startDashboard()
  const headers: HeaderLines = [
    ['Origin', 'http://evil.example'],
    ['Access-Control-Request-Method', 'PUT'],
  ]
  const answer = await dashboard.ask('OPTIONS', '/api/proxy/config', { headers })
  assert.equal(answer.status, 403)
  assert.ok(!answer.rawHeaders.some((text) => /^access-control/i.test(text)))
})

test('the same operations are open to the page itself and to programs', async () => {
  await using dashboard = await startDashboard()
  const own: HeaderLines = [
    ['Origin', `http://localhost:${dashboard.port}`],
    ['Sec-Fetch-Site', 'same-origin'],
  ]
  for (const headers of [own, []]) {
    for (const [method, target, operation] of mutating.slice(0, 5)) {
      const answer = await dashboard.askJson(method, target, {}, { headers })
      assert.equal(answer.status, 200, `${operation}: ${answer.body.toString()}`)
    }
  }
  for (const operation of ['start', 'stop', 'restart', 'configure']) {
    assert.equal(dashboard.gateway.count(operation), 2, operation)
  }
})

test('a name that was turned to this address reaches nothing', async () => {
  await using dashboard = await startDashboard({ allowedHosts: ['dash.example'] })
  for (const target of [
    '/',
    '/assets/icon.svg',
    '/api/proxy/status',
    '/api/events?topics=log',
    '/x',
    '/%zz',
  ]) {
    for (const host of ['evil.example', `evil.example:${dashboard.port}`, 'localhost.evil.example']) {
      const answer = await dashboard.ask('GET', target, { host })
      assert.deepEqual([answer.status, errorOf(answer).code], [403, 'forbidden_host'], `${host} ${target}`)
      assert.match(errorOf(answer).message, /--allow-host/)
    }
    for (const host of ['', 'a b', 'localhost/x', 'evil.example:1:2']) {
      assert.equal((await dashboard.ask('GET', target, { host })).status, 400, `${host} ${target}`)
    }
    assert.equal((await dashboard.ask('GET', target, { host: null })).status, 400, target)
    const headers: HeaderLines = [['Host', 'evil.example']]
    assert.equal((await dashboard.ask('GET', target, { headers })).status, 400, target)
  }
  for (const host of ['127.0.0.1', '[::1]:9118', 'a.localhost']) {
    assert.equal((await dashboard.ask('GET', '/api/proxy/status', { host })).status, 200, host)
  }
  // Under a name that others may use, too, nobody is known to be of this machine.
  for (const host of ['dash.example:9118', '192.0.2.1']) {
    const answer = await dashboard.ask('GET', '/api/proxy/status', { host })
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'token_not_set'], host)
  }
})

test('a target with a host of its own is refused', async () => {
  await using dashboard = await startDashboard()
  for (const target of [
    `http://localhost:${dashboard.port}/api/proxy/status`,
    'http://evil.example/',
    '*',
    'x',
  ]) {
    const answer = await dashboard.ask('GET', target)
    assert.equal(answer.status, 400, target)
  }
})

test('through a proxy the token is demanded, on every path', async () => {
  await using dashboard = await startDashboard({ adminToken })
  const proxied = [
    'X-Forwarded-For',
    'Forwarded',
    'X-Real-IP',
    'Via',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
  ]
  for (const name of proxied) {
    for (const target of [
      '/api/proxy/status',
      '/api/events?topics=log',
      '/assets/index.html',
      '/x',
      '/%zz',
    ]) {
      const headers: HeaderLines = [[name, '1.1 10.0.0.1']]
      const answer = await dashboard.ask('GET', target, { headers })
      assert.deepEqual([answer.status, errorOf(answer).code], [401, 'token_required'], `${name} ${target}`)
    }
    const withToken: HeaderLines = [
      [name, '1.1 10.0.0.1'],
      ['X-Tokenweir-Admin-Token', adminToken],
    ]
    assert.equal((await dashboard.ask('GET', '/api/proxy/status', { headers: withToken })).status, 200)
  }
})

test('through a proxy nothing is open where there is no token', async () => {
  await using dashboard = await startDashboard()
  for (const target of ['/', '/assets/icon.svg', '/api/proxy/status', '/api/session']) {
    const answer = await dashboard.ask('GET', target, { headers: [['X-Forwarded-For', '10.0.0.1']] })
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'token_not_set'], target)
    assert.match(errorOf(answer).message, /TOKENWEIR_ADMIN_TOKEN/)
  }
})

test('the gateway is no way in, with or without the token', async () => {
  await using dashboard = await startDashboard({ adminToken })
  for (const via of ['1.1 tokenweir-k3v9x2ab', '1.1 other, 1.1 TOKENWEIR-x']) {
    const headers: HeaderLines = [
      ['Via', via],
      ['X-Tokenweir-Admin-Token', adminToken],
    ]
    const answer = await dashboard.ask('GET', '/api/proxy/status', { headers })
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'forwarded_by_gateway'])
  }
})
