import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { LogLines } from '../../src/api/dashboard-event.ts'
import type { HealthReport } from '../../src/api/health-report.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ConfigOption, ProxyConfig } from '../../src/api/proxy-config.ts'
import { sampleHealth } from '../support/sample-health.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { openDashboardPage, startByButton, untilReady } from './dashboard-page.ts'
import { naughtyStrings } from './naughty-strings.ts'

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
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 500 / })
  const { page } = opened
  await opened.untilState('Stopped')
  let before: unknown
  for (const text of ['harmless', ...naughtyStrings]) {
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
  await opened.untilText('gateway-error-log', new RegExp(`^${RegExp.escape(naughtyStrings.at(-1) ?? '')}$`))
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
    running: true,
    state: 'running',
    pid: 1,
    port: 1,
    host: text,
    upstream: text,
    instance: text,
    started_at: '2026-01-01T00:00:00.000Z',
    uptime_s: 1,
    health_ok: true,
    health,
    pid_file: text,
    log_file: text,
    predecessors: [],
    message: text,
    simulated: true,
    crash: null,
  }
}

function configSaying(text: string): ProxyConfig {
  const option: ConfigOption = {
    name: text,
    description: text,
    kind: 'text',
    unit: null,
    min: null,
    max: null,
    choices: null,
    range: text,
    value: text,
    default: text,
    source: 'default',
    fixed_by: null,
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
