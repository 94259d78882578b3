import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { startAttackerServer } from './attacker-server.ts'
import { openDashboardPage } from './dashboard-page.ts'

const token = 'a-token-that-is-long-enough'
const open = { host: '0.0.0.0', env: { TOKENWEIR_ADMIN_TOKEN: token } }

/** All that a script on the page, or somebody who looks at it, could find a secret in. */
async function everythingOn(page: Page): Promise<string> {
  return page.evaluate<string>(
    `JSON.stringify([document.documentElement.outerHTML, document.cookie, location.href, history.state,
      { ...localStorage }, { ...sessionStorage }, performance.getEntries().map(({ name }) => name)])`,
  )
}

test('a dashboard that others can reach: the page asks for the admin token, and says when it is wrong', async () => {
  await using dashboard = await startDashboardProcess(open)
  // Whoever wanted to see something in particular gets there.
  const path = '/gateway?tz=utc'
  await using opened = await openDashboardPage(dashboard, { path, expected: / 40[13] / })
  const { page } = opened
  assert.equal((await page.request.get(`${dashboard.origin}/api/proxy/status`)).status(), 401)
  const field = page.getByLabel('Admin token')
  await field.fill('a-token-that-is-a-wrong-one')
  await page.keyboard.press('Enter')
  await opened.untilText('sign-in-error', /^Wrong token\.$/)
  assert.deepEqual(await page.context().cookies(), [])

  await field.fill(token)
  await opened.button('Sign in').click()
  // The event stream works with the cookie alone: it can send no header.
  await opened.untilState('Stopped')
  assert.equal(page.url(), dashboard.origin + path)
  const [cookie] = await page.context().cookies()
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.path], [true, 'Strict', '/'])
  assert.ok(!(await everythingOn(page)).includes(token))
  assert.ok(!JSON.stringify(cookie).includes(token))

  await opened.button('Start').click()
  await opened.untilState('Running')
  const files = ['data/proxy.log', 'data/.proxy.pid'].map((name) =>
    readFileSync(`${dashboard.directory}/${name}`, 'utf8'),
  )
  const { stdout, stderr } = dashboard.command
  assert.ok(![...files, stdout, stderr].some((text) => text.includes(token)))

  // The session ends while the page is open: it leads back to the sign-in page.
  await opened.button('Stop').click()
  await page.getByRole('dialog').waitFor()
  // Cards ask by themselves, too: it is the press that finds out.
  await page.route('**/api/**', (route) =>
    route.request().method() === 'GET' ? undefined : route.continue(),
  )
  await page.context().clearCookies()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await field.waitFor()
  assert.equal((await dashboard.status()).state, 'running')
})

test('the link that is printed at the start signs in once, and leaves no trace in the address', async () => {
  await using dashboard = await startDashboardProcess(open)
  const { command, origin, port } = dashboard
  const [, path = ''] = await command.waitForOutput(/sign in with http:\/\/[^/]+(\/\?token=\S+) within/)
  const code = path.slice('/?token='.length)
  assert.notEqual(code, token)

  await using opened = await openDashboardPage({ origin }, { expected: / 40[134] |is not responding/ })
  const { page } = opened
  await page.goto(origin + path)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  assert.equal(page.url(), `${origin}/`)
  const [cookie] = await page.context().cookies()
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
  assert.ok(!JSON.stringify(cookie).includes(token))
  const seen = await everythingOn(page)
  assert.ok(!seen.includes(token) && !seen.includes(code))

  // A mistyped address is a page, too.
  await page.goto(`${origin}/nonsense`)
  await page.getByRole('link', { name: 'Go to the Overview' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

  await using other = await openDashboardPage({ origin }, { expected: / 401 / })
  await other.page.goto(origin + path)
  await other.page.getByLabel('Admin token').waitFor()
  assert.deepEqual(await other.page.context().cookies(), [])

  // The browser of a person who is signed in does nothing for another site's page.
  await using attacker = await startAttackerServer()
  await dashboard.ask('POST', '/api/proxy/start')
  const before = await dashboard.status()
  const hostile = await page.context().newPage()
  await hostile.goto(`http://localhost:${attacker.port}/`)
  await hostile.waitForFunction('typeof attack === "function"')
  const answered = page
    .context()
    .waitForEvent('response', (response) => response.url().endsWith('/api/proxy/stop'))
  const target = JSON.stringify(`http://127.0.0.1:${port}/api/proxy/stop`)
  for (const way of ['noCorsEmpty', 'form']) {
    assert.equal(await hostile.evaluate(`attack('${way}', ${target}, 'POST')`), '')
  }
  assert.equal((await answered).status(), 403)
  assert.equal((await dashboard.status()).pid, before.pid)

  await page.keyboard.press('?')
  await opened.button('Sign out').click()
  await page.getByLabel('Admin token').waitFor()
  assert.deepEqual(await page.context().cookies(), [])
})
