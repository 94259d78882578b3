import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SignIn } from '../../src/dashboard/http/sign-in.ts'
import { cannotActAsOthers, curl, nobodysId } from '../support/curl.ts'
import type { HeaderLines } from '../support/response-bytes.ts'
import { type DashboardUnderTest, adminToken, errorOf, startDashboard } from './dashboard-under-test.ts'

const dayMs = 24 * 60 * 60 * 1000
const outside = { adminToken, demandsToken: true }

const statusWith = async (dashboard: DashboardUnderTest, name: string, value: string): Promise<number> =>
  (await dashboard.ask('GET', '/api/proxy/status', { headers: [[name, value]] })).status

/** The pair that a browser sends back for a `Set-Cookie`. */
const pairOf = (setCookie: string | undefined): string => setCookie?.split(';', 1)[0] ?? ''

test('outside, the token is demanded and taken as a header', async () => {
  await using dashboard = await startDashboard(outside)
  const bare = await dashboard.ask('GET', '/api/proxy/status')
  assert.deepEqual([bare.status, errorOf(bare).code], [401, 'token_required'])
  assert.equal(await statusWith(dashboard, 'x-tokenweir-admin-token', adminToken), 200)
  for (const wrong of ['', 'x', `${adminToken}x`, adminToken.toUpperCase()]) {
    assert.equal(await statusWith(dashboard, 'x-tokenweir-admin-token', wrong), 401, wrong)
  }
  assert.equal((await dashboard.ask('POST', '/api/proxy/stop')).status, 401)
  // Nor is anything open that is only written like what the sign-in needs.
  for (const target of [
    '/x',
    '/assets/main.js',
    '/api/session/',
    '/api/session/..',
    '/api/Session',
    '/%2e',
    '//',
  ]) {
    const answer = await dashboard.ask('GET', target)
    assert.deepEqual([answer.status, errorOf(answer).code], [401, 'token_required'], target)
  }
  assert.equal(dashboard.gateway.count('stop'), 0)
})

test('whoever is not signed in gets the sign-in page, and what it is made of', async () => {
  await using dashboard = await startDashboard(outside)
  const page = await dashboard.ask('GET', '/')
  for (const path of ['/', '/calls', '/gateway?tz=utc']) {
    const asked = await dashboard.ask('GET', path)
    assert.deepEqual([asked.status, asked.body.toString()], [401, page.body.toString()], path)
  }
  assert.match(page.body.toString(), /<title>Sign in/)
  const parts = [...page.body.toString().matchAll(/"(\/assets\/[\w.-]+)"/g)].map(([, path]) => path!)
  assert.ok(parts.length >= 4)
  for (const path of parts) assert.equal((await dashboard.ask('GET', path)).status, 200, path)
})

test('a link signs in once', async () => {
  await using dashboard = await startDashboard(outside)
  const link = dashboard.server.signInLink()
  assert.match(link, /^\/\?token=[\w-]{43}$/)
  assert.equal((await dashboard.ask('HEAD', link)).status, 401, 'a look at the link does not use it up')

  const answer = await dashboard.ask('GET', link, { headers: [['Sec-Fetch-Site', 'none']] })
  assert.deepEqual([answer.status, answer.header('refresh')], [200, '0; url=/'])
  const setCookie = answer.header('set-cookie')
  assert.match(setCookie ?? '', /; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000$/)
  assert.ok(!answer.body.includes(link.slice(8)))

  const again = await dashboard.ask('GET', link)
  assert.deepEqual([again.status, again.header('set-cookie')], [401, undefined])
  assert.match(again.body.toString(), /<title>Sign in/)

  const headers = [['Cookie', `theme=dark; ${pairOf(setCookie)}`]] as const
  assert.equal((await dashboard.ask('GET', '/', { headers })).status, 200)
  assert.equal((await dashboard.ask('POST', '/api/proxy/stop', { headers })).status, 200)
  assert.equal((await dashboard.ask('GET', link, { headers })).header('refresh'), '0; url=/')
})

test('a link ends after a quarter of an hour, whatever the wall clock does, and a wrong one never begins', async () => {
  await using dashboard = await startDashboard(outside)
  const [link, other] = [dashboard.server.signInLink(), dashboard.server.signInLink()]
  for (const wrong of ['/?token=', '/?token=x', `${link}x`, `${link}&token=x`]) {
    assert.equal((await dashboard.ask('GET', wrong)).status, 401, wrong)
  }
  dashboard.clock.stepWallTime(-60 * 60_000)
  await dashboard.clock.advance(15 * 60_000 - 1)
  assert.equal((await dashboard.ask('GET', link)).status, 200)
  await dashboard.clock.advance(1)
  assert.equal((await dashboard.ask('GET', other)).status, 401)
})

test('only the last four links are open', async () => {
  await using dashboard = await startDashboard(outside)
  const statuses: number[] = []
  for (const link of Array.from({ length: 5 }, () => dashboard.server.signInLink()))
    statuses.push((await dashboard.ask('GET', link)).status)
  assert.deepEqual(statuses, [401, 200, 200, 200, 200])
})

test('the cookie ends after 30 days, outlives a restart, and dies with the token', async () => {
  await using dashboard = await startDashboard(outside)
  const link = await dashboard.ask('GET', dashboard.server.signInLink())
  const pair = pairOf(link.header('set-cookie'))
  await dashboard.clock.advance(30 * dayMs - 1000)
  assert.equal(await statusWith(dashboard, 'Cookie', pair), 200)
  await dashboard.clock.advance(1000)
  assert.equal(await statusWith(dashboard, 'Cookie', pair), 401)

  await using restarted = await startDashboard(outside)
  assert.equal(await statusWith(restarted, 'Cookie', pair), 200)
  await using changed = await startDashboard({ ...outside, adminToken: 'another' })
  assert.equal(await statusWith(changed, 'Cookie', pair), 401)
})

test('a forged cookie is none, and does a good one no harm', async () => {
  await using dashboard = await startDashboard(outside)
  const { clock } = dashboard
  const ofAnother = pairOf(new SignIn('another', clock).byToken('another')!)
  const good = pairOf(new SignIn(adminToken, clock).byToken(adminToken)!)
  const later = good.replace(/=\d+/, '=99999999999')
  const [name = '', value = ''] = good.split('=')
  const [expiry = ''] = value.split('.')
  const signed = (signature: string): string => `${name}=${expiry}.${signature}`
  const renamed = ofAnother.replace(/^[^=]+/, name)
  const odd = [signed('A'.repeat(43)), signed('é'.repeat(43)), good.slice(0, -1), `x${good}`]
  const forged = [ofAnother, renamed, later, ...odd, `${name}=`, `${name}=9999999999.`, 'a=b', ';;;', '']
  for (const pair of forged) assert.equal(await statusWith(dashboard, 'Cookie', pair), 401, pair)
  for (const pairs of [`a=1; ${good};b=2`, `${name}=x; ${good}`])
    assert.equal(await statusWith(dashboard, 'Cookie', pairs), 200, pairs)
})

test('the token typed in becomes a cookie, and the cookie goes', async () => {
  await using dashboard = await startDashboard(outside)
  const wrong = await dashboard.askJson('POST', '/api/session', { token: 'x' })
  assert.deepEqual([wrong.status, errorOf(wrong).code], [401, 'token_wrong'])
  assert.equal(wrong.header('set-cookie'), undefined)
  const right = await dashboard.askJson('POST', '/api/session', { token: adminToken })
  assert.equal(right.status, 204)
  assert.equal(await statusWith(dashboard, 'Cookie', pairOf(right.header('set-cookie'))), 200)
  const gone = await dashboard.ask('DELETE', '/api/session')
  assert.equal(gone.status, 204)
  assert.match(
    gone.header('set-cookie') ?? '',
    /^tokenweir_session_[\da-f]{8}=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/,
  )
  for (const body of [{}, { token: 5 }, { token: adminToken, x: 1 }, [adminToken], null]) {
    assert.equal((await dashboard.askJson('POST', '/api/session', body)).status, 400, JSON.stringify(body))
  }
})

test('guessing is slowed down, for everybody alike', async () => {
  await using dashboard = await startDashboard(outside)
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await dashboard.askJson('POST', '/api/session', { token: `${i}` })).status, 401)
  }
  const late = await dashboard.askJson('POST', '/api/session', { token: adminToken })
  assert.deepEqual(
    [late.status, errorOf(late).code, late.header('retry-after')],
    [429, 'too_many_attempts', '60'],
  )
  await dashboard.clock.advance(60_000)
  assert.equal((await dashboard.askJson('POST', '/api/session', { token: adminToken })).status, 204)
})

test('where no token is demanded, the link leads to the page', async () => {
  await using dashboard = await startDashboard()
  assert.equal(dashboard.server.signInLink(), '/')
  assert.equal((await dashboard.ask('GET', '/?token=x')).status, 200)
  const answer = await dashboard.askJson('POST', '/api/session', { token: '' })
  assert.deepEqual([answer.status, errorOf(answer).code], [403, 'token_not_set'])
})

test('a token in a header is guessed no more often than one that is typed in, and no stranger keeps the owner out', async () => {
  await using dashboard = await startDashboard(outside)
  const ask = async (token: string, ...headers: (readonly [string, string])[]): Promise<number> => {
    const shown = [['x-tokenweir-admin-token', token], ...headers] as const
    return (await dashboard.ask('GET', '/api/proxy/status', { headers: shown })).status
  }
  const forwarded = ['X-Forwarded-For', '10.0.0.1'] as const
  assert.equal(await ask(adminToken, forwarded), 200)
  for (let i = 0; i < 10; i++) assert.equal(await ask(`${adminToken}${i}`, forwarded), 401)
  assert.equal(await ask(adminToken, forwarded), 401)
  assert.equal(await ask(adminToken), 200)
})

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
  ...['http://localhost:3000', 'http://localhost', 'x', ''].map((origin) => ({
    what: `from ${origin}`,
    headers: [['Origin', origin]] satisfies HeaderLines,
  })),
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

/** What a browser asks for on a page of another site, how, and what comes of it. */
const visits: readonly (readonly [
  what: string,
  method: string,
  target: string,
  mode: string,
  status: number,
])[] = [
  ['a link to the page', 'GET', '/', 'navigate', 200],
  ['a link with a code', 'GET', '/?token=x', 'navigate', 200],
  ['a link to a view', 'GET', '/calls?model=a', 'navigate', 200],
  ['a link to no view', 'GET', '/calls/x', 'navigate', 403],
  ['a link to the API', 'GET', '/api/proxy/status', 'navigate', 403],
  ['a form to the page', 'POST', '/', 'navigate', 403],
  ['a script', 'GET', '/assets/main.js', 'no-cors', 403],
  ['a fetch of the page', 'GET', '/', 'cors', 403],
]

test("another site's page may lead to the page and its views, and to nothing else", async () => {
  await using dashboard = await startDashboard()
  for (const site of ['cross-site', 'same-site']) {
    for (const [what, method, target, mode, status] of visits) {
      const headers: HeaderLines = [
        ['Sec-Fetch-Site', site],
        ['Sec-Fetch-Mode', mode],
      ]
      const answer = await dashboard.ask(method, target, { headers })
      assert.equal(answer.status, status, `${site}: ${what}`)
      if (status === 403) assert.equal(errorOf(answer).code, 'cross_site')
    }
  }
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

const strangers = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'localhost.',
  '1.2.3.4.5',
]
const oddHosts = ['a b', 'a@localhost', 'localhost:x', 'localhost/x', 'evil.example:1:2', '[::1', 'löcalhost']
const noHosts = [null, '', ...oddHosts, 'a,localhost']

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
    for (const host of [...strangers, `evil.example:${dashboard.port}`]) {
      const answer = await dashboard.ask('GET', target, { host })
      assert.deepEqual([answer.status, errorOf(answer).code], [403, 'forbidden_host'], `${host} ${target}`)
      assert.ok(errorOf(answer).message.includes(`--allow-host ${host.replace(/:\d+$/, '')}.`))
    }
    const twice = { headers: [['Host', 'localhost']] as const }
    for (const parts of [...noHosts.map((host) => ({ host })), twice]) {
      const answer = await dashboard.ask('GET', target, parts)
      assert.deepEqual([answer.status, errorOf(answer).code], [400, 'invalid_host'], JSON.stringify(parts))
    }
  }
  for (const host of ['127.0.0.1', '[::1]:9118', 'a.localhost']) {
    assert.equal((await dashboard.ask('GET', '/api/proxy/status', { host })).status, 200, host)
  }
  // Under a name that others may use, too, nobody is known to be of this machine.
  for (const host of ['dash.example:9118', 'Dash.Example', '192.0.2.1']) {
    const answer = await dashboard.ask('GET', '/api/proxy/status', { host })
    assert.deepEqual([answer.status, errorOf(answer).code], [403, 'token_not_set'], host)
  }
})

test('a target with a host of its own is refused', async () => {
  await using dashboard = await startDashboard()
  for (const target of [
    `http://localhost:${dashboard.port}/api/proxy/status`,
    'http://evil.example/',
    '/\\evil.example',
    '*',
    'x',
  ]) {
    const answer = await dashboard.ask('GET', target)
    assert.equal(answer.status, 400, target)
  }
  assert.equal((await dashboard.ask('OPTIONS', '*')).status, 400)
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
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Client-IP',
    'X-Envoy-External-Address',
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
  assert.equal((await dashboard.ask('GET', '/api/proxy/status', { httpVersion: '1.0' })).status, 401)
  for (const name of ['X-Client', 'X-Request-Id', 'X-Stainless-Lang'])
    assert.equal(await statusWith(dashboard, name, '1.1 10.0.0.1'), 200, name)
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

const asJson = ['--header', 'Content-Type: application/json', '--data']
const asked: readonly (readonly [path: string, options: readonly string[]])[] = [
  ['/', []],
  ['/api/proxy/status', []],
  ['/api/query', []],
  ['/api/events?topics=log', []],
  ['/api/raw-log/recent', []],
  ['/api/proxy/config', ['--request', 'PUT', ...asJson, '{"upstream":"http://evil.example"}']],
  ['/api/proxy/stop', [...asJson, '{}']],
]

for (const token of [null, adminToken]) {
  const having = token === null ? 'no admin token is set' : 'there is an admin token'
  test(`another user of the machine is not let in where ${having}`, { skip: cannotActAsOthers }, async () => {
    await using dashboard = await startDashboard({ adminToken: token })
    const origin = `http://127.0.0.1:${dashboard.port}`
    for (const [path, options] of asked) {
      const { status, body } = await curl(origin + path, options, nobodysId)
      assert.equal(status, token === null ? 403 : 401, path)
      // A page on which to sign in is for anybody.
      if (token === null || path !== '/') assert.match(body, /admin token/)
    }
    assert.deepEqual([dashboard.gateway.asked, dashboard.rawLog.asked], [[], []])
    const header = ['--header', `x-tokenweir-admin-token: ${adminToken}`]
    const { status } = await curl(`${origin}/api/proxy/status`, header, nobodysId)
    assert.equal(status, token === null ? 403 : 200)
    assert.equal((await curl(`${origin}/api/proxy/status`)).status, 200, 'our own user needs none')
  })
}
