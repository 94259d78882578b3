import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import type { AlertsReport } from '../../src/api/alerts.ts'
import { startReceiver } from '../alerts/alert-receiver.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'

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
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/hidden-part'],
  )
  await page.getByLabel('Format').selectOption('json')
  await opened.untilText('alert-receiver', /as json$/)
  await page.getByRole('list').getByText('arrived').waitFor()
  assert.equal(await page.getByLabel('Webhook URL').inputValue(), '')
  assert.ok(!(await page.content()).includes('hidden-part'))

  await opened.button('Remove').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await opened.untilText('alert-receiver', /^no webhook configured$/)
})
