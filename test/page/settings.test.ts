import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import type { AlertsReport } from '../../src/api/alerts.ts'
import type { ClientsReport } from '../../src/api/clients.ts'
import { startReceiver } from '../alerts/alert-receiver.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'
import { openGatewayView } from './gateway-view.ts'

test('clients: what is in use is shown as it changes, and limits and names that are set there hold at once', async () => {
  const gate = Promise.withResolvers<void>()
  const usage = { prompt_tokens: 400, completion_tokens: 400, total_tokens: 800 }
  await using upstream = await startSimulatedUpstream({
    reply: () => ({ steps: [until(gate.promise), ...jsonReply(200, { model: 'm', usage })] }),
  })
  await using view = await openGatewayView(upstream.baseUrl, { path: '/settings' })
  const { dashboard, port, opened } = view
  const { page } = opened
  const card = page.locator('.clients-card')
  await card.getByText('No calls in the last seven days.').waitFor()
  const call = (...headers: [string, string][]) =>
    exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}', headers })

  // A client that never called has its limit from its first call on.
  await card.getByRole('button', { name: 'Limit another client' }).click()
  const first = card.getByRole('form', { name: 'Limits for another client' })
  await first.getByLabel('Maximum concurrent calls').fill('1')
  await page.keyboard.press('Enter')
  await first.getByText('Enter a client name.').waitFor()
  await first.getByLabel('Client').fill('agent')
  await first.getByLabel('Tokens in 24 hours').fill('1 000')
  await page.keyboard.press('Enter')
  await card.getByRole('row', { name: /^agent no calls yet/ }).waitFor()
  const calls = [1, 2, 3].map(() => call(['x-tokenweir-client', 'agent']))
  const keyed = call(['Authorization', 'Bearer sk-of-nobody'])
  const agent = card.getByRole('row', { name: /^agent/ })
  await agent.getByRole('cell', { name: '1 of 1', exact: true }).waitFor()
  await agent.getByRole('cell', { name: '2', exact: true }).waitFor()
  // The one with a key has come by itself.
  await upstream.waitForInFlight(2)
  assert.equal(upstream.peakInFlight, 2)

  await card.getByRole('button', { name: 'Change agent' }).click()
  const form = card.getByRole('form', { name: 'Limits for agent' })
  await form.getByLabel('Maximum concurrent calls').fill('two')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter a whole number from 1, or leave empty for no limit.').waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await form.getByLabel('Maximum concurrent calls').fill('2')
  // Another tab saves what is being changed here; a further call has this one hear of it.
  await form.getByLabel('Tokens in 24 hours').fill('1000')
  await dashboard.ask('PUT', '/api/clients/agent', { token_limit: 3000 })
  calls.push(call(['x-tokenweir-client', 'another']))
  await form.getByText('Changed elsewhere: Tokens in 24 hours 3,000. Saving replaces it.').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await agent.getByRole('cell', { name: '2 of 2', exact: true }).waitFor()
  await upstream.waitFor('two of its calls and two others', () => upstream.inFlight === 4)
  gate.resolve()
  await Promise.all([...calls, keyed])
  await agent.getByText('used up').waitFor()

  // A key that names no client is given a name, which may be any text.
  const key = card.getByRole('row', { name: /^Key [0-9a-f]{8}/ })
  await key.getByRole('button').click()
  await card.getByLabel('Client name').fill('<b>night</b> job/1')
  await page.keyboard.press('Enter')
  await card.getByText('counts as <b>night</b> job/1').waitFor()
  const file = join(dashboard.directory, 'data/clients.json')
  // The key's fingerprint may be all digits, and JavaScript puts such names first.
  const { agent: kept, ...others } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  assert.deepEqual(kept, { max_concurrent: 2, token_limit: 1000 })
  assert.deepEqual(Object.values(others), [{ name: '<b>night</b> job/1' }])
  const unnamed = await dashboard.ask('PUT', '/api/clients/agent', { name: 'other' })
  assert.equal(unnamed.status, 400)

  // While the file is broken nothing can be changed, and what it said last holds.
  writeFileSync(file, '{"agent": ')
  const refused = await dashboard.ask('PUT', '/api/clients/agent', { max_concurrent: 3 })
  assert.equal(refused.status, 409)
  const report = (await (await dashboard.ask('GET', '/api/clients')).json()) as ClientsReport
  assert.match(report.problem ?? '', /clients\.json, line 1, column \d+/)
  assert.equal(report.clients.find(({ client }) => client === 'agent')?.max_concurrent, 2)
  await page.reload()
  await opened.untilText('client-problem', /The last valid names and limits stay in force/)
  assert.equal(await card.getByRole('button', { name: 'Change agent' }).getAttribute('aria-disabled'), 'true')
})

async function rulesOf(dashboard: DashboardProcess): Promise<AlertsReport['rules']> {
  return ((await (await dashboard.ask('GET', '/api/alerts')).json()) as AlertsReport).rules
}

test('alerts: rules are set and kept, what is active stands in the bar, a test says what came back', async () => {
  await using dir = await makeTempDir()
  await using receiver = await startReceiver((response, index) =>
    response.writeHead(index < 3 ? 200 : 500).end(),
  )
  const env = { TOKENWEIR_ALERT_WEBHOOK: `${receiver.origin}/hidden-part` }
  const args = ['--alert-every-s', '1', '--upstream', 'http://127.0.0.1:9']
  await using dashboard = await startDashboardProcess({ directory: dir.path, env, args })
  await using opened = await openDashboardPage(dashboard, {
    path: '/alerts',
    bypassCSP: true,
    expected: / 400 /,
  })
  const { page, button } = opened
  await page.getByText('Locked: set by TOKENWEIR_ALERT_WEBHOOK.').waitFor()
  const card = page.getByRole('main')
  await card.getByText('No active alerts.').waitFor()
  await opened.untilText('alert-receiver', /^sent to 127\.0\.0\.1:\d+ as json$/)

  // A threshold is kept with Enter, a switch at once; what cannot be says why, and nothing is kept.
  const ratio = card.getByLabel('Failing calls: threshold')
  await ratio.fill('120')
  await page.keyboard.press('Enter')
  await card.getByText('error_ratio.threshold must be a number from 1 to 100 (%); it is 120.').waitFor()
  await ratio.fill('some')
  await card.getByText('Enter a number from 0').waitFor()
  await ratio.fill('-3')
  await card.getByText('Enter a number from 0, such as 1,500 or 1.5.').waitFor()
  // Somebody else changes the field that is typed in.
  await dashboard.ask('PUT', '/api/alerts', { error_ratio: { threshold: 40 } })
  await card.getByText('Changed to 40 elsewhere. Saving replaces it.').waitFor()
  await ratio.fill('35')
  await page.keyboard.press('Enter')
  await card.getByText(/^35%? or more of the calls.*Default: 20\.$/).waitFor()
  await card.getByLabel('Long waits for a slot', { exact: true }).uncheck()
  await card.getByText('2 off').waitFor()
  // A press on the switch leaves the field, which is saved: neither is lost.
  await ratio.fill('35.5')
  await card.getByLabel('Failing calls', { exact: true }).uncheck()
  await card.getByText('3 off').waitFor()
  await card.getByLabel('Failing calls', { exact: true }).check()
  await card.getByText('2 off').waitFor()
  const settings = JSON.parse(readFileSync(join(dir.path, 'data/alerts.json'), 'utf8')) as unknown
  assert.deepEqual(settings, { error_ratio: { on: true, threshold: 35.5 }, queue_wait: { on: false } })

  await button('Send a test').click()
  await opened.untilText('alert-told', /^127\.0\.0\.1:\d+ accepted the test: 200 OK$/)

  // What was asked before a change, and is answered after it, does not undo it.
  const [isHeld, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch()
    isHeld.resolve()
    await mayAnswer.promise
    await route.fulfill({ response }).catch(() => null)
  }
  await page.route('**/api/alerts', hold, { times: 1 })
  await button('Send a test').click()
  await isHeld.promise
  await card.getByLabel('Long waits for a slot', { exact: true }).check()
  await card.getByText('1 off').waitFor()
  mayAnswer.resolve()
  await page.unrouteAll({ behavior: 'wait' })
  await untilStill(page)
  assert.equal(await card.getByText('1 off').count(), 1)

  // Calls fail: it is told here, in the bar of every view, and to the receiver.
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  for (let call = 0; call < 20; call += 1)
    await (await fetch(`http://127.0.0.1:${port}/v1/models`)).arrayBuffer()
  const bar = page.getByRole('banner')
  await bar.getByText('1 alert', { exact: true }).waitFor()
  await card.getByRole('list', { name: 'Active alerts' }).getByText('Failing calls').waitFor()
  await receiver.waitFor(3)
  await card.getByText('arrived').nth(1).waitFor()
  await button('Send a test').click()
  await opened.untilText(
    'alert-told',
    /^127\.0\.0\.1:\d+ did not accept the test: 500 Internal Server Error$/,
  )
  await card.getByText('not delivered: 500 Internal Server Error').waitFor()
  assert.ok(!(await page.content()).includes('hidden-part'))

  // A file that somebody broke is said, and nothing can be set until it is mended.
  writeFileSync(join(dir.path, 'data/alerts.json'), '{"budget": {"threshold": "all"}}')
  await page.reload()
  await opened.untilText(
    'alert-problem',
    /line 1, column 26: budget\.threshold must be .* last valid rules stay in force\.$/,
  )
  assert.ok(await ratio.isDisabled())
  assert.equal((await rulesOf(dashboard)).find(({ code }) => code === 'error_ratio')?.threshold, 35.5)
  writeFileSync(join(dir.path, 'data/alerts.json'), '{}')
  await page.reload()
  await page.locator('#alert-problem').waitFor({ state: 'detached' })

  for (const width of [320, 1360]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      // Nothing is half under the bar there.
      await page.evaluate('scrollTo(0, 0)')
      await untilStill(page)
      assert.deepEqual(await violations(page), [], `${width} ${colorScheme}`)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
    }
  }
  // In the bar of every view, and it leads here.
  await bar.getByRole('link', { name: 'Calls' }).click()
  await bar.getByRole('link', { name: '1 alert', exact: true }).click()
  await page.waitForURL(`${dashboard.origin}/alerts`)
})

test('a webhook is set on the page: in force at once, its address shown nowhere', async () => {
  await using dir = await makeTempDir()
  mkdirSync(join(dir.path, 'data'))
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { path: '/alerts', expected: / 400 / })
  const { page } = opened
  await opened.untilText('alert-receiver', /^no webhook configured$/)
  assert.equal(await opened.button('Send a test').count(), 0)
  assert.equal((await rulesOf(dashboard)).length, 14)

  // What is no address is refused, and what is one is in force at once.
  await using receiver = await startReceiver()
  await page.getByLabel('Webhook URL').fill('hidden-part')
  await page.keyboard.press('Enter')
  await opened.untilText('alert-url-error', /^webhook\.url must be an http or https URL\.$/)
  await page.getByLabel('Format').selectOption('ntfy')
  await page.getByLabel('Webhook URL').fill(`${receiver.origin}/hidden-part`)
  await page.keyboard.press('Enter')
  await opened.untilText('alert-receiver', /^sent to 127\.0\.0\.1:\d+ as ntfy$/)
  await opened.button('Send a test').click()
  await opened.untilText('alert-told', /^127\.0\.0\.1:\d+ accepted the test: 204 No Content$/)
  assert.deepEqual(fieldsOf(receiver.received, 'path'), ['/hidden-part'])
  await page.getByLabel('Format').selectOption('json')
  await opened.untilText('alert-receiver', /as json$/)
  await page.getByRole('list').getByText('arrived').waitFor()
  assert.equal(await page.getByLabel('Webhook URL').inputValue(), '')
  assert.ok(!(await page.content()).includes('hidden-part'))

  await opened.button('Remove').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await opened.untilText('alert-receiver', /^no webhook configured$/)
})
