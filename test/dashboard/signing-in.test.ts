import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SignIn } from '../../src/dashboard/http/sign-in.ts'
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
  assert.equal((await dashboard.ask('GET', '/assets/main.js')).status, 401)
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

test('a link ends after a quarter of an hour, and a wrong one never begins', async () => {
  await using dashboard = await startDashboard(outside)
  const link = dashboard.server.signInLink()
  for (const wrong of ['/?token=', '/?token=x', `${link}x`, `${link}&token=x`]) {
    assert.equal((await dashboard.ask('GET', wrong)).status, 401, wrong)
  }
  await dashboard.clock.advance(15 * 60_000)
  assert.equal((await dashboard.ask('GET', link)).status, 401)
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

test('a forged cookie is none', async () => {
  await using dashboard = await startDashboard(outside)
  const { clock } = dashboard
  const ofAnother = pairOf(new SignIn('another', clock).byToken('another')!)
  const later = pairOf(new SignIn(adminToken, clock).byToken(adminToken)!).replace(/=\d+/, '=99999999999')
  const [name = ''] = later.split('=')
  const renamed = ofAnother.replace(/^[^=]+/, name)
  const forged = [ofAnother, renamed, later, `${name}=`, `${name}=9999999999.`, 'a=b', ';;;']
  for (const pair of forged) assert.equal(await statusWith(dashboard, 'Cookie', pair), 401, pair)
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
