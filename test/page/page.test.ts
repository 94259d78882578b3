import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page, Response } from 'playwright-core'
import type { LogLines } from '../../src/api/dashboard-event.ts'
import type { HealthReport } from '../../src/api/health-report.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ConfigOption, ProxyConfig } from '../../src/api/proxy-config.ts'
import { pagePaths } from '../../src/dashboard/http/page-assets.ts'
import { viewPaths } from '../../ui/data/page-address.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { sampleHealth, sampleStatus } from '../support/sample-health.ts'
import { startAttackerServer } from './attacker-server.ts'
import { openDashboardPage, startByButton, untilReady, untilTrue } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'
import { naughtyStrings } from './naughty-strings.ts'
import { noNumber, sampleOption } from '../support/sample-option.ts'

const kilobyte = 1000
const assets = new URL('../../dist/ui/assets/', import.meta.url)

/** Of files as they are sent, in bytes. */
async function packedSize(names: Iterable<string>): Promise<number> {
  const files = await Promise.all([...names].map((name) => readFile(new URL(name, assets))))
  return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).byteLength, 0)
}

/** The files that the first view needs: those that the page names, and those that they cannot do without. */
async function firstFiles(): Promise<ReadonlySet<string>> {
  const html = await readFile(new URL('../index.html', assets), 'utf8')
  const names = new Set([...html.matchAll(/assets\/([\w.-]+\.(?:js|css))/g)].map(([, name = '']) => name))
  // A set also iterates over what is added on the way.
  for (const name of names) {
    const text = await readFile(new URL(name, assets), 'utf8')
    for (const [, needed = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
      names.add(needed)
  }
  return names
}

test('the first view is small, and so is each part that is loaded later', async () => {
  const first = await firstFiles()
  const endingWith = (ending: string): readonly string[] => [...first].filter((name) => name.endsWith(ending))
  assert.ok(endingWith('.js').length > 1 && endingWith('.css').length > 0)
  const [script, style] = [await packedSize(endingWith('.js')), await packedSize(endingWith('.css'))]
  assert.ok(script <= 50 * kilobyte, `${script} bytes of script`)
  assert.ok(style <= 10 * kilobyte, `${style} bytes of style`)
  const later = (await readdir(assets)).filter((name) => /\.(?:js|css)$/.test(name) && !first.has(name))
  assert.ok(later.length > 0)
  for (const name of later) assert.ok((await packedSize([name])) <= 16 * kilobyte, name)
})

test('the dashboard serves every view that the page has', () => {
  assert.deepEqual(pagePaths, Object.values(viewPaths))
})

test('a first load takes few requests and few bytes, a second one hardly any', async () => {
  const dashboard = await dashboardOver('incident')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  const fresh = await page.context().newPage()
  const client = await page.context().newCDPSession(fresh)
  await client.send('Network.clearBrowserCache')

  const responses: Response[] = []
  fresh.on('response', (response) => responses.push(response))
  await fresh.goto(`${dashboard.origin}/`)
  await fresh.getByText(/^Updated /).waitFor()
  await fresh.getByText('Stopped').first().waitFor()
  const paths = responses.map((response) => new URL(response.url()).pathname)
  assert.ok(responses.length <= 7, paths.join(' '))
  let bytes = 0
  for (const response of responses) {
    const { pathname } = new URL(response.url())
    if (pathname === '/api/events') continue
    const { responseBodySize, responseHeadersSize } = await response.request().sizes()
    bytes += responseBodySize + responseHeadersSize
    if (!pathname.startsWith('/assets/')) continue
    assert.equal(response.headers()['cache-control'], 'public, max-age=31536000, immutable', pathname)
  }
  assert.ok(bytes > 10 * kilobyte && bytes <= 90 * kilobyte, `${bytes} bytes`)

  responses.length = 0
  await fresh.reload()
  await fresh.getByText(/^Updated /).waitFor()
  const loaded = responses.filter((response) => new URL(response.url()).pathname === '/')
  assert.deepEqual(
    loaded.map((response) => response.status()),
    [200],
  )
  const cached = await fresh.evaluate<number[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).map(({ transferSize }) => transferSize)`,
  )
  assert.ok(cached.length >= 3 && cached.every((size) => size === 0), JSON.stringify(cached))
})

test('a link leads to what it shows', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  const titles = {
    '/': 'Overview',
    '/calls': 'Calls',
    '/live': 'Live',
    '/costs': 'Costs',
    '/gateway': 'Gateway',
    '/alerts': 'Alerts',
    '/settings': 'Settings',
  } as const
  for (const [path, title] of Object.entries(titles)) {
    await page.goto(dashboard.origin + path)
    await untilTrue(page, `document.title === '${title} · tokenweir'`)
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title)
    const current = page.getByRole('navigation', { name: 'Views' }).locator('[aria-current=page]')
    assert.equal(await current.textContent(), title)
  }
})

const built = new URL('../../dist/ui/', import.meta.url)

test('no request leaves the dashboard in any view, and the console stays silent', async () => {
  const dashboard = await dashboardOver('incident')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  const origins = new Set<string>()
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  for (const path of pagePaths) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
  }
  // By its links as well, without loading the page anew.
  for (const name of ['Calls', 'Live', 'Gateway', 'Overview']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    await untilReady(page)
  }
  // The clipboard and a page that is left touch nobody either.
  await page.goto('about:blank')
  assert.deepEqual([...origins], [dashboard.origin])
})

test('what is built names no other place', async () => {
  const names = (await readdir(built, { recursive: true })).filter((name) =>
    /\.(?:html|js|css|svg)$/.test(name),
  )
  assert.ok(names.length > 3)
  for (const name of names) {
    const text = await readFile(new URL(name, built), 'utf8')
    const places = [...text.matchAll(/\b(?:https?|wss?):\/\/[\w.-]+/g)].map(([place]) => place)
    // Names of XML's languages, which are never asked for.
    const asked = places.filter((place) => place !== 'http://www.w3.org')
    assert.deepEqual(asked, [], name)
  }
})

/** Everything in the page that could run, load or lead elsewhere, but for what comes and goes with the state. */
const census = `[...document.querySelectorAll(
  'script, img, iframe, object, embed, link, style, base, meta, form, a, template, video, animate, [style]')]
  .filter((element) => !element.matches('.meter > span, .now-link'))
  .map((element) => element.cloneNode(false).outerHTML)`

test('what the log and the options say, by way of the real dashboard, stays text', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/settings' })
  const { page } = opened
  await page.getByRole('link', { name: 'Gateway', exact: true }).click()
  await startByButton(opened)
  await opened.untilText('log-lines', /calls are recorded in/)
  await untilReady(page)
  const before = await page.evaluate(census)

  // Signs that end a line, or that no terminal should see, are taken out before.
  const lines = naughtyStrings.filter((text) => /^[\x21-\x7e][\x20-\x7e]*$/.test(text))
  appendFileSync(`${dashboard.directory}/data/proxy.log`, `${lines.join('\n')}\nthe end\n`)
  await opened.untilText('log-lines', /the end$/)
  const shown = await page.locator('#log-lines > div').allTextContents()
  assert.deepEqual(shown.slice(-lines.length - 1, -1), lines)

  await page.getByRole('link', { name: 'Settings' }).click()
  const upstream = 'http://127.0.0.1:9/<img/src=x/onerror=alert(1)>'
  await page.getByLabel('Upstream', { exact: true }).fill(upstream)
  await opened.button('Save').click()
  await opened.untilText('options-told', /^Saved/)
  await page.getByRole('link', { name: 'Gateway', exact: true }).click()
  await opened.button('Restart').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await opened.untilText('upstream', /onerror/)
  assert.equal(await page.locator('#upstream').textContent(), upstream)
  await untilReady(page)
  assert.deepEqual(await page.evaluate(census), before)
})

test('a dashboard that says only hostile things cannot make the page run, load or leave', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 500 / })
  const { page } = opened
  await opened.untilState('Stopped')
  let before: unknown
  // Texts of markup are said several at once: the page shows each as it is, or not.
  const [plain, markup] = [true, false].map((isPlain) =>
    naughtyStrings.filter((text) => text.includes('<') !== isPlain),
  ) as [string[], string[]]
  const together = Array.from({ length: Math.ceil(markup.length / 8) }, (_, at) =>
    markup.slice(at * 8, at * 8 + 8).join(' '),
  )
  for (const text of ['harmless', ...together, ...plain]) {
    await speakHostile(page, text)
    // The stream is asked for anew, as after a pause.
    await page.evaluate('dispatchEvent(new Event("pagehide")); dispatchEvent(new Event("pageshow"))')
    await page.waitForFunction((text) => {
      const shown = (id: string): unknown =>
        Reflect.get(globalThis, 'document').getElementById(id)?.textContent
      return shown('upstream') === text && shown('log-lines') === text
    }, text)
    const ids = ['message', 'warnings', 'log-file', 'upstream']
    const texts = ids.map((id) => `document.querySelector('#${id}').textContent`)
    assert.deepEqual(
      await page.evaluate(`[${texts.join()}]`),
      ids.map(() => text),
    )
    // What is still asked for stands for itself.
    await page.waitForFunction(() => Reflect.get(globalThis, 'document').querySelector('.skeleton') === null)
    assert.equal(await page.locator('#process').textContent(), `1, instance ${text}, version ${text}`)
    await page.getByRole('link', { name: 'Settings' }).click()
    await opened.untilText('settings-file', new RegExp(`^${RegExp.escape(text)}$`))
    // The one field that there is of each kind, with the hostile name, range, choices and value.
    for (const kind of ['input', 'select']) {
      assert.equal(
        await page.getByRole('region', { name: 'Options' }).locator(kind).last().inputValue(),
        text,
      )
    }
    await page.getByRole('link', { name: /^Gateway$/ }).click()
    await page.locator('#log-lines').waitFor()
    before ??= await page.evaluate(census)
  }
  await opened.button('Stop').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await opened.untilText('gateway-error-log', new RegExp(`^${RegExp.escape(plain.at(-1) ?? '')}$`))
  assert.deepEqual(await page.evaluate(census), before)
})

/** Lets the dashboard's routes say a text wherever they say something. */
async function speakHostile(page: Page, text: string): Promise<void> {
  const log: LogLines = { lines: [text], reset: true }
  const error = { code: text, message: text, param: text, log: [text] }
  await page.unrouteAll()
  await page.route('**/api/events?*', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: gateway\ndata: ${JSON.stringify(statusSaying(text))}\n\nevent: log\ndata: ${JSON.stringify(log)}\n\n`,
    }),
  )
  await page.route('**/api/proxy/config', (route) => route.fulfill({ json: configSaying(text) }))
  await page.route('**/api/proxy/stop', (route) => route.fulfill({ status: 500, json: { error } }))
}

function statusSaying(text: string): ProcessStatus {
  const health: HealthReport = {
    ...sampleHealth,
    status: 'degraded',
    upstream: text,
    db: text,
    instance: text,
    version: text,
    warnings: [{ code: text, message: text }],
  }
  return {
    ...sampleStatus,
    pid: 1,
    pid_file: text,
    log_file: text,
    port: 1,
    host: text,
    upstream: text,
    instance: text,
    health,
    message: text,
    simulated: true,
  }
}

function configSaying(text: string): ProxyConfig {
  const option: ConfigOption = {
    ...sampleOption,
    ...noNumber,
    name: text,
    description: text,
    kind: 'text',
    range: text,
    value: text,
    default: text,
    changes: 'restart',
    running: `not ${text}`,
  }
  const options: readonly ConfigOption[] = [
    option,
    { ...option, name: `${text}?`, kind: 'choice', choices: [text] },
    { ...option, name: `${text}!`, changes: null, fixed_by: text },
  ]
  return { options, needs_restart: [text], file: text, upstream_key: 'lent' }
}

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

  await using opened = await openDashboardPage({ origin }, { expected: / 40[134] / })
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

  await page.getByRole('link', { name: 'Settings' }).click()
  await opened.button('Sign out').click()
  await page.getByLabel('Admin token').waitFor()
  assert.deepEqual(await page.context().cookies(), [])
})
