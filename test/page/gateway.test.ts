import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { asRecord } from '../support/json-record.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, setHidden, startByButton, untilStill, untilTrue } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'
import { openGatewayView } from './gateway-view.ts'

test('the buttons start, restart and stop the gateway, after saying what becomes of its calls', async (t) => {
  await using upstream = await startSimulatedUpstream()
  // A call in flight is not to be cut off while this looks at the page.
  const args = ['--upstream', upstream.baseUrl, '--max-concurrent', '1', '--drain-timeout-ms', '60000']
  await using dashboard = await startDashboardProcess({ args })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page, button } = opened
  const points = page.getByRole('dialog').getByRole('listitem')

  const firstPid = await startByButton(opened)
  const first = await dashboard.status()
  assert.deepEqual([first.state, first.pid], ['running', firstPid])
  assert.equal(await opened.untilText('base-url', /^http/), `http://127.0.0.1:${first.port}/v1`)

  await button('Restart').click()
  await points.first().waitFor()
  assert.deepEqual(await points.allTextContents(), [
    'No calls in flight.',
    'No call is refused: the new process takes over once it is up.',
  ])
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await opened.untilText('process', new RegExp(`^(?!${firstPid},)\\d+, instance`))
  await opened.untilState('Running')
  const second = await dashboard.status()
  assert.notEqual(second.pid, firstPid)

  assert.equal((await fetch(`http://127.0.0.1:${second.port}/chat/completions`)).status, 404)
  await opened.untilText('wrong-base-url', /^1 call with a wrong base URL was refused/)

  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, {})])
  const call = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${second.port}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  const inFlight = call()
  await upstream.waitForInFlight(1)
  const waiting = call()
  await opened.untilText('active', /^1$/)
  await opened.untilText('queued', /^1$/)

  await button('Stop').click()
  await points.first().waitFor()
  assert.deepEqual(await points.allTextContents(), [
    '1 call in flight can finish within 1 min.',
    '1 waiting call will be refused.',
    'Requests will be refused until you start it again.',
  ])
  await page.keyboard.press('Escape')
  assert.equal((await dashboard.status()).state, 'running')

  await button('Stop').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await opened.untilState('Draining')
  await opened.untilText('gateway-detail', /^finishing 1 call$/)
  assert.equal((await waiting).status, 503)
  gate.resolve()
  assert.equal((await inFlight).status, 200)
  await opened.untilState('Stopped')
  assert.equal((await dashboard.status()).state, 'stopped')
  await assert.rejects(call())

  await t.test('the keyboard alone starts and stops the gateway', async () => {
    await page.reload()
    const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.innerText')
    const tabTo = async (words: string): Promise<void> => {
      for (let presses = 0; (await focused()) !== words; presses += 1) {
        assert.ok(presses < 30, `Tab never reaches ${words}`)
        await page.keyboard.press('Tab')
      }
    }

    await opened.untilState('Stopped')
    await tabTo('Start')
    await page.keyboard.press('Enter')
    await opened.untilState('Running')
    // The button that had the focus keeps it, and now does the opposite: after it was asked.
    await untilTrue(page, 'document.activeElement.innerText === "Stop"')
    await page.keyboard.press('Space')
    await page.getByRole('dialog').waitFor()
    // What does no harm has the focus first.
    assert.equal(await focused(), 'Cancel')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    assert.equal(await focused(), 'Stop')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await focused(), 'Stop')
    await page.keyboard.press('Enter')
    await opened.untilState('Stopped')
    await untilTrue(page, 'document.activeElement.innerText === "Start"')
  })
})

test('the port is taken: the page says so, and offers nothing that cannot work', async () => {
  await using taken = await startSimulatedUpstream()
  const args = ['--gateway-port', String(taken.port)]
  await using dashboard = await startDashboardProcess({ args })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  await opened.untilState('Port in use by another program')
  assert.match(await opened.untilText('message', /./), new RegExp(`${taken.port}`))
  for (const name of ['Start', 'Restart']) {
    assert.equal(await opened.button(name).getAttribute('aria-disabled'), 'true')
  }
})

test('a gateway that does not come up: its last words are shown, once, until they are dismissed', async () => {
  await using dashboard = await startDashboardProcess({ args: ['--gateway-host', '203.0.113.1'] })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 50[03] / })
  const { page } = opened
  await opened.untilState('Stopped')
  await opened.button('Start').click()
  const log = await opened.untilText('gateway-error-log', /no such address/)
  assert.match(log, /203\.0\.113\.1/)
  await opened.untilState('Stopped')
  assert.equal(
    await page
      .getByRole('region', { name: 'State', exact: true })
      .getByText(/ended with exit code 1/)
      .count(),
    1,
  )
  await opened.button('Dismiss').click()
  await page.locator('#gateway-error').waitFor({ state: 'hidden' })
  // What the dashboard itself says of it stays.
  await opened.untilText('message', /last start failed/)
})

/** A page's document, of which the tests know no more. */
interface FieldsById {
  getElementById(id: string): { readonly value: string }
}

async function maxConcurrent(port: number): Promise<unknown> {
  const health = asRecord(await (await fetch(`http://127.0.0.1:${port}/health`)).json())
  return asRecord(health['rate_limiter'])['max_concurrent']
}

test('options: a wrong value is told beside its field, a live one is in force at once, others wait for a restart', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 400 / })
  const { page, button } = opened
  const pid = await startByButton(opened)
  const { port } = await dashboard.status()
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Settings' }).click()

  // What a flag has fixed is there to be read.
  assert.match((await page.locator('code#option-port').textContent()) ?? '', /^\d+$/)
  await page.getByText('Locked: set by --gateway-port').waitFor()
  const flag = page.getByText('--gateway-port', { exact: true })
  const viewport = page.viewportSize()!
  for (const width of [390, 340]) {
    await page.setViewportSize({ ...viewport, width })
    assert.equal(
      await flag.evaluate((text: { getClientRects(): { length: number } }) => text.getClientRects().length),
      1,
    )
  }
  await page.setViewportSize(viewport)

  const field = page.getByLabel('Maximum concurrent calls')
  await field.fill('0')
  await button('Save').click()
  await opened.untilText('option-max_concurrent-error', /must be a whole number from 1 to 100,000; got 0/)
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.equal(await maxConcurrent(port), 4)

  await field.fill('7')
  await page.keyboard.press('Enter')
  await opened.untilText('options-told', /^Saved and applied\.$/)
  await page.getByRole('banner').getByText('of 7 slots').waitFor()
  assert.equal(await maxConcurrent(port), 7)
  assert.equal(await field.getAttribute('aria-invalid'), null)

  await page.getByLabel('Upstream', { exact: true }).fill(upstream.baseUrl)
  await button('Save').click()
  await opened.untilText('options-told', /^Saved\. Restart to apply: Upstream\.$/)
  await page.getByText('The running gateway uses https://api.openai.com/v1. Restart to apply.').waitFor()
  assert.equal((await dashboard.status()).pid, pid)
  await button('Restart to apply').click()
  await page.getByRole('dialog').getByText('Applies changes to: Upstream.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await page.getByText('Restart to apply.').waitFor({ state: 'hidden' })
  assert.deepEqual((await dashboard.status()).upstream, upstream.baseUrl)

  // What was typed and not saved survives a look elsewhere and news, and goes when it is discarded.
  await field.fill('9')
  await views.getByRole('link', { name: 'Calls' }).click()
  await field.waitFor({ state: 'detached' })
  await views.getByRole('link', { name: 'Settings' }).click()
  assert.equal(await field.inputValue(), '9')
  await dashboard.ask('PUT', '/api/proxy/config', { slot_cooldown_ms: 0 })
  await page.waitForFunction(() => {
    const document: unknown = Reflect.get(globalThis, 'document')
    return (document as FieldsById).getElementById('option-slot_cooldown_ms').value === '0'
  })
  assert.equal(await field.inputValue(), '9')
  // Another tab saves what is being changed here.
  await dashboard.ask('PUT', '/api/proxy/config', { max_concurrent: 5 })
  await page.getByText('Changed to 5 calls elsewhere. Saving replaces it.').waitFor()
  assert.equal(await field.inputValue(), '9')
  await button('Discard').click()
  assert.equal(await field.inputValue(), '5')
})

test('log: lines arrive, the end is followed unless the reader scrolled up, and Clear asks first', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page, button } = opened
  const log = `${dashboard.directory}/data/proxy.log`
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`)
  const fromEnd = (): Promise<number> =>
    page.evaluate<number>(
      `{ const { scrollTop, clientHeight, scrollHeight } = document.querySelector('#log-lines')
         scrollHeight - clientHeight - scrollTop }`,
    )

  await opened.untilState('Stopped')
  await opened.untilText('log-lines', /^No lines yet\.$/)
  appendFileSync(log, lines.join(''))
  await opened.untilText('log-lines', /line 99$/)
  assert.ok((await fromEnd()) < 8)

  await page.evaluate('document.querySelector("#log-lines").scrollTop = 0')
  await button('Jump to end').waitFor()
  appendFileSync(log, 'one more\nand another\n')
  await button('2 new lines').waitFor()
  assert.ok((await fromEnd()) > 100)
  await button('2 new lines').click()
  await opened.untilText('log-lines', /and another$/)
  assert.ok((await fromEnd()) < 8)
  assert.equal(await page.evaluate('document.activeElement.id'), 'log-lines')
  await button('Jump to end').waitFor({ state: 'hidden' })

  // Under the mouse nothing moves, nor while something is selected; then it goes on.
  await page.mouse.move(0, 0)
  await page.locator('#log-lines').hover()
  appendFileSync(log, 'under the mouse\n')
  await button('1 new line').waitFor()
  assert.doesNotMatch((await page.locator('#log-lines').textContent()) ?? '', /under the mouse/)
  await page.mouse.move(0, 0)
  await opened.untilText('log-lines', /under the mouse$/)
  await page.evaluate(
    'getSelection().selectAllChildren(document.querySelector("#log-lines").lastElementChild)',
  )
  appendFileSync(log, 'while selected\n')
  await button('1 new line').waitFor()
  await page.evaluate('getSelection().empty()')
  await opened.untilText('log-lines', /while selected$/)

  // The keyboard scrolls it, and comes back to what is new.
  await page.locator('#log-lines').focus()
  await page.keyboard.press('Home')
  await button('Jump to end').waitFor()
  await page.keyboard.press('End')
  await button('Jump to end').waitFor({ state: 'hidden' })

  await button('Clear the log').click()
  await page.getByRole('dialog').getByText('Its lines are deleted for good.').waitFor()
  await page.keyboard.press('Escape')
  assert.match(readFileSync(log, 'utf8'), /one more/)
  await button('Clear the log').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
  await opened.untilText('log-lines', /^No lines yet\.$/)
  assert.doesNotMatch(readFileSync(log, 'utf8'), /one more/)
})

test('the dashboard is killed and comes back: the page keeps what it knew, says since when, and goes on', async () => {
  await using upstream = await startSimulatedUpstream()
  const args = ['--upstream', upstream.baseUrl]
  await using dashboard = await startDashboardProcess({ args, port: await freePort() })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: /net::ERR_/ })
  const pid = await startByButton(opened)
  const { directory, port } = dashboard

  await dashboard.command.stop('SIGKILL')
  await opened.page
    .getByRole('alert')
    .getByText(/^Dashboard unreachable since \d\d:\d\d:\d\d/)
    .waitFor()
  await opened.untilState('Running')
  await opened.untilText('process', new RegExp(`^${pid},`))

  await using again = await startDashboardProcess({ args, directory, port })
  await opened.page.getByText(/^Dashboard unreachable/).waitFor({ state: 'hidden' })
  assert.equal((await again.status()).pid, pid)
  appendFileSync(`${directory}/data/proxy.log`, 'a line after the return\n')
  await opened.untilText('log-lines', /a line after the return/)
  // And what the page does reaches the new one.
  await opened.button('Stop').click()
  await opened.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await opened.untilState('Stopped')
})

test('a hidden page holds no connection, and follows again when it is seen', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  await opened.untilState('Stopped')
  const streams: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/events')) streams.push('opened')
  })
  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/events'))

  await page.evaluate(setHidden(true))
  await closed
  assert.deepEqual(streams, [])
  await page.evaluate(setHidden(false))
  appendFileSync(`${dashboard.directory}/data/proxy.log`, 'seen again\n')
  await opened.untilText('log-lines', /seen again/)
  assert.deepEqual(streams, ['opened'])
})

test('upstreams are added, changed and removed on the page, which tells how each is; calls are filtered by them', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using local = await startSimulatedUpstream()
  const nobody = await freePort()
  await using view = await openGatewayView(byDefault.baseUrl, { expected: / 400 / })
  const { dashboard, port } = view
  const { page } = view.opened
  const card = page.locator('.upstreams-card')
  await card.getByText(`All calls go to ${byDefault.baseUrl}.`).waitFor()

  await card.getByRole('button', { name: 'Add upstream' }).click()
  const adding = card.getByRole('form', { name: 'New upstream' })
  await adding.getByRole('button', { name: 'Save' }).click()
  await adding.getByText('Enter a name.').waitFor()
  await adding.getByLabel('Name').fill('v1')
  await adding.getByLabel('URLs').fill('localhost:11434')
  await adding.getByRole('button', { name: 'Save' }).click()
  await adding.getByText('A URL must start with http:// or https://, unlike localhost:11434.').waitFor()
  await adding.getByLabel('URLs').fill(`http://127.0.0.1:${nobody} ${local.origin}`)
  // Tried before it is saved: one address answers, behind the other nobody listens.
  await adding.getByRole('button', { name: 'Test' }).click()
  await adding
    .getByRole('status')
    .getByText(new RegExp(`^Failed: .*:${nobody}.* · ${local.origin} answers in `))
    .waitFor()
  await adding.getByLabel('Models').fill('llama*, qwen*')
  await adding.getByLabel('Maximum concurrent calls').fill('3')
  await adding.getByLabel('Falls back to').selectOption('default')
  await adding.getByRole('button', { name: 'Save' }).click()
  // What the dashboard says against it is said where it was asked.
  await adding.getByText('v1: name cannot be v1').waitFor()
  await adding.getByLabel('Name').fill('local')
  await adding.getByRole('button', { name: 'Save' }).click()
  const line = card.getByRole('row', { name: /^local/ })
  await line.getByRole('cell', { name: '0 of 3', exact: true }).waitFor()
  await line.getByText('llama*, qwen*, and paths under /local/').waitFor()
  await line.getByText('Not called yet').waitFor()
  await line.getByText('no credentials; falls back to default').waitFor()

  for (const model of ['llama-3', 'gpt']) {
    const body = JSON.stringify({ model, messages: [] })
    assert.equal((await exchange(port, 'POST', '/v1/chat/completions', { body })).status, 200)
  }
  await line.getByText('1 of 2 failing').waitFor()
  await line.getByText(new RegExp(`127.0.0.1:${nobody} failing since .*nothing listens there`)).waitFor()
  // Scrolled, the bar covers a part of what stands below it.
  await page.evaluate('scrollTo(0, 0)')
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  await card.getByRole('button', { name: 'Change local' }).click()
  const changing = card.getByRole('form', { name: 'Upstream local' })
  await changing.getByLabel('URLs').fill(local.origin)
  await changing.getByRole('button', { name: 'Save' }).click()
  await line.getByText('OK', { exact: true }).waitFor()
  const file = join(dashboard.directory, 'data/upstreams.json')
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    version: 1,
    upstreams: [
      {
        name: 'local',
        urls: [local.origin],
        models: ['llama*', 'qwen*'],
        max_concurrent: 3,
        fallback: 'default',
      },
    ],
  })

  await page.goto(`${dashboard.origin}/calls?range=24h`)
  await page.getByRole('button', { name: 'Upstream', exact: true }).click()
  await page.getByRole('checkbox', { name: /local/ }).check()
  await page.getByText('llama-3').first().waitFor()
  await page.getByText('gpt', { exact: true }).waitFor({ state: 'detached' })
  assert.match(page.url(), /upstream_name=local/)

  // A file that is broken by hand is told, and nothing is written over it.
  await page.goto(`${dashboard.origin}/gateway`)
  writeFileSync(file, '{"version": 1, "upstreams": [{"name": "local", "urls": [3]}]}')
  await page.reload()
  await card.getByText(/line 1, column \d+: upstreams\[0\]\.urls\[0\] must be an http or https URL/).waitFor()
  writeFileSync(file, JSON.stringify({ version: 1, upstreams: [{ name: 'local', urls: [local.origin] }] }))
  await page.reload()
  await card.getByRole('button', { name: 'Change local' }).click()
  await changing.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await card.getByText(`All calls go to ${byDefault.baseUrl}.`).waitFor()
})

test('a limit that is nearly used up, the limit that a 429 met, and a call that waits for the minute are shown', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => jsonReply(200, { model: 'm', choices: [] }),
  })
  await using dashboard = await startDashboardProcess({
    args: ['--upstream', upstream.baseUrl, '--max-rpm', '1'],
  })
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  await using opened = await openDashboardPage(dashboard, {
    path: '/gateway',
    bypassCSP: true,
  })
  const { page } = opened
  const card = page.locator('.limits-card')
  await page.getByRole('heading', { name: 'Gateway', exact: true }).first().waitFor()
  assert.equal(await card.count(), 0, 'no provider has told of a limit')

  upstream.replyOnce(
    jsonReply(429, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }, [
      ['x-ratelimit-limit-requests', '500'],
      ['x-ratelimit-remaining-requests', '212'],
      ['x-ratelimit-limit-tokens', '200000'],
      ['x-ratelimit-remaining-tokens', '10'],
      ['x-ratelimit-reset-tokens', '59.9s'],
    ]),
  )
  const ask = () => exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  assert.equal((await ask()).status, 429)
  await card.getByText('212 of 500 requests per minute left').waitFor()
  await card.getByText(/^10 of 200,000 tokens per minute left, resets in/).waitFor()
  await card.getByText('Nearly used up').waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  const waits = ask()
  waits.catch(() => {})
  await page.goto(`${dashboard.origin}/live`)
  await page.getByText('Waiting for rate limit').waitFor()
  await page.goto(`${dashboard.origin}/calls`)
  await page.getByRole('row').filter({ hasText: '429' }).first().click()
  await page.getByText('Provider limit hit').waitFor()
  await page
    .getByRole('definition')
    .filter({ hasText: /^tokens$/ })
    .waitFor()
})
