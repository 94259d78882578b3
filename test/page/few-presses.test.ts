/** What people come to ask, and how few presses each takes from the first page. What is typed is no press. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { Overview } from '../../src/api/overview.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { startReceiver } from '../alerts/alert-receiver.ts'
import { requestBytes } from '../support/exchange.ts'
import { openRawClient } from '../support/raw-client.ts'
import { stall } from '../support/reply-step.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const most = 3

const dayMs = 86_400_000

const upstream = await startSimulatedUpstream()
after(() => upstream[Symbol.asyncDispose]())
const dashboard = await shareDashboard(
  (folder) => {
    // Of the day before there are calls until the last minute of this one.
    const nowMs = Date.now()
    writePageData(folder, 'incident', nowMs)
    const yesterday = { session: 'yesterday', calls: 9, agoMs: (nowMs % dayMs) + dayMs / 2 }
    writeRuns(folder, [yesterday, { session: 'old', calls: 9, agoMs: 5 * dayMs }], nowMs)
  },
  ['--upstream', upstream.baseUrl],
)
await dashboard.ask('POST', '/api/proxy/start')
const { port } = await dashboard.status()
const opened = await openDashboardPage(dashboard)
after(() => opened[Symbol.asyncDispose]())

type Press = (target: Locator) => Promise<void>

/** A question that is asked from the first page on. */
function question(
  words: string,
  ask: (page: Page, press: Press) => Promise<void>,
  atMost: number = most,
): void {
  test(words, async () => {
    const { page } = opened
    await page.goto(dashboard.origin)
    await untilReady(page)
    let presses = 0
    await ask(page, async (target) => {
      presses++
      await target.click()
    })
    assert.ok(presses <= atMost, `${presses} presses`)
  })
}

const view = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true })
const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true })
const asked = async <T>(path: string): Promise<T> => (await (await dashboard.ask('GET', path)).json()) as T

question('which call has this id?', async (page, press) => {
  const [call] = (await asked<{ calls: readonly CallJson[] }>('/api/query?limit=1')).calls
  assert.ok(call !== undefined)
  await press(button(page, 'Find'))
  await page.getByRole('combobox', { name: /^Find/ }).fill(call.id)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText(call.id).first().waitFor()
})

question('which client costs the most?', async (page, press) => {
  await press(view(page, 'Costs'))
  await press(button(page, 'Client'))
  const rows = page.getByRole('table', { name: 'Spend by client' }).getByRole('row')
  assert.match(await rows.nth(1).innerText(), /\$/)
})

question('was the queue a problem, and which limit would have been enough?', async (page, press) => {
  await press(button(page, '30d'))
  await page.getByText('longest queue').waitFor()
  await press(button(page, 'How many slots?'))
  await page.getByText(/no call would have waited/).waitFor()
})

question('which calls of one client were answered 429?', async (page, press) => {
  await press(button(page, 'Find'))
  await page.getByRole('combobox', { name: /^Find/ }).fill('429')
  await page.keyboard.press('Enter')
  await page.waitForURL(/status=429/)
  await press(button(page, 'Client'))
  await press(page.getByRole('group', { name: 'Clients' }).getByRole('checkbox').first())
  await page.waitForURL(/client=/)
})

question('which call cost the most?', async (page, press) => {
  await press(button(page, '30d'))
  await press(page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: /^Cost/ }))
  await page.waitForURL(/sort=cost/)
  await page.getByRole('region', { name: 'Calls' }).waitFor()
})

question('which model was the slowest yesterday?', async (page, press) => {
  await press(button(page, 'Yesterday'))
  await press(view(page, 'Compare'))
  await page.getByRole('table', { name: 'Calls by model' }).getByText('Latency p95').waitFor()
})

question('why did errors rise, and which calls are they?', async (page, press) => {
  const { failures } = await asked<Overview>('/api/overview')
  assert.ok(failures !== null && failures.length > 1)
  const causes = page.getByRole('region', { name: 'Why calls failed' })
  await press(button(causes, 'Status'))
  const worst = causes.getByRole('listitem').first()
  await worst.getByText('%').waitFor()
  await press(worst.getByRole('link'))
  await page.waitForURL(/errors_only=true/)
})

question('how do two models compare?', async (page, press) => {
  await press(view(page, 'Compare'))
  await page.locator('.series-plot .drawn-line').nth(2).waitFor()
})

question('what would folding old calls give back?', async (page, press) => {
  await press(view(page, 'Settings'))
  await page.getByLabel('Keep individual calls for').fill('1')
  await press(button(page, 'Estimate'))
  await page.getByText(/would be rolled up|no calls are that old/).waitFor()
})

question('may more calls run at once?', async (page, press) => {
  await press(view(page, 'Settings'))
  await page.getByLabel('Maximum concurrent calls').fill('7')
  await page.keyboard.press('Enter')
  await page.getByText('Saved and applied.').waitFor()
  await page.getByRole('banner').getByText('of 7 slots').waitFor()
})

question(
  'how do I get the failed calls of one model as a file?',
  async (page, press) => {
    const models = page.getByRole('region', { name: 'By model' })
    await press(models.getByRole('listitem').first().getByRole('link'))
    await page.waitForURL(/model=/)
    await press(button(page, 'Errors only'))
    await press(page.getByRole('button', { name: 'Export' }))
    await page.getByText(/^All \d+ calls, newest first/).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page.getByRole('link', { name: /^CSV,/ })),
    ])
    assert.match(download.suggestedFilename(), /^tokenweir-calls_.+_failed_.*\.csv$/)
  },
  4,
)

question('which client costs the most this month?', async (page, press) => {
  await press(view(page, 'Costs'))
  await press(page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: /^Forecast/ }))
  await page.waitForURL(/range=month/)
  await press(button(page, 'Client'))
  await page.getByRole('table', { name: 'Spend by client' }).waitFor()
})

question('why did the dearest call cost so much?', async (page, press) => {
  await press(button(page, '30d'))
  await press(page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: /^Cost/ }))
  await page.waitForURL(/sort=cost/)
  await press(page.getByRole('region', { name: 'Calls' }).locator('[data-id]').first())
  const panel = page.getByRole('dialog')
  await panel.getByRole('link', { name: /^price of/ }).waitFor()
  await panel.getByText('Cached input', { exact: true }).waitFor()
})

question('how soon do two models begin to answer?', async (page, press) => {
  await press(view(page, 'Compare'))
  await press(button(page, 'First token'))
  await page.waitForURL(/measure=ttft_ms/)
  await page.locator('.series-plot .drawn-line:not([d=""])').first().waitFor()
  await page.getByRole('table', { name: 'Calls by model' }).getByText('First token p95').waitFor()
})

question('what is under way now, and can I cancel one of it?', async (page, press) => {
  upstream.replyOnce([stall()])
  await using client = await openRawClient(port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"stuck"}' }))
  await press(view(page, 'Live'))
  const row = page.getByRole('row').filter({ hasText: 'stuck' })
  await press(row.getByRole('button', { name: /^Cancel/ }))
  await press(page.getByRole('dialog').getByRole('button', { name: 'Cancel call' }))
  await client.waitForBytes('cancelled')
})

question('what did my agent do?', async (page, press) => {
  await press(button(page, '30d'))
  await press(view(page, 'Sessions'))
  await page.getByRole('searchbox').fill('yesterday')
  await press(page.getByRole('table', { name: 'Sessions' }).getByRole('link', { name: /^yesterday/ }))
  await page.getByRole('heading', { name: 'yesterday' }).waitFor()
  await page.getByText('Read').first().waitFor()
})

question('can one client be limited, whether it has called or not?', async (page, press) => {
  await press(view(page, 'Settings'))
  await press(button(page, 'Limit another client'))
  await page.getByLabel('Client', { exact: true }).fill('not yet seen')
  await page.getByRole('form').getByLabel('Maximum concurrent calls').fill('2')
  await page.keyboard.press('Enter')
  const row = page.getByRole('row', { name: /^not yet seen no calls yet/ })
  await row.getByText('of 2').waitFor()
  await press(row.getByRole('button'))
  await page.getByRole('form').getByLabel('Maximum concurrent calls').fill('3')
  await page.keyboard.press('Enter')
  await row.getByText('of 3').waitFor()
})

question('can a model go to another upstream?', async (page, press) => {
  await press(view(page, 'Gateway'))
  await press(button(page, 'Add upstream'))
  const form = page.getByRole('form', { name: 'New upstream' })
  await form.getByLabel('Name').fill('other')
  await form.getByLabel('URLs').fill(upstream.origin)
  await form.getByLabel('Models').fill('other-*')
  await press(button(form, 'Test'))
  await form.getByText(`${upstream.origin} answers in`).waitFor()
  await form.getByLabel('Models').press('Enter')
  await page
    .getByRole('row', { name: /^other/ })
    .getByText('Not called yet')
    .waitFor()
})

question(
  'can a price be set, and the past be priced anew?',
  async (page, press) => {
    await press(view(page, 'Costs'))
    await press(page.getByRole('button', { name: 'Set price qwen3-8b-q4' }))
    await page
      .getByRole('form')
      .getByLabel(/^Input,/)
      .fill('2')
    await page
      .getByRole('form')
      .getByLabel(/^Output,/)
      .fill('4')
    await page.keyboard.press('Enter')
    await page.getByText(/can now be priced: \$/).waitFor()
    await press(button(page, 'Preview…'))
    await press(page.getByRole('dialog').getByRole('button', { name: /^Recalculate [\d,]+ calls$/ }))
    await page
      .getByRole('dialog')
      .getByText(/calls recalculated: \+\$/)
      .waitFor()
  },
  4,
)

question('can the payloads of failed calls alone be kept?', async (page, press) => {
  await press(view(page, 'Live'))
  const rule = page.getByLabel('Calls to capture')
  await press(rule)
  await rule.selectOption('errors')
  await press(button(page, '10 minutes'))
  await page.getByText('Payloads of failed calls').waitFor()
  await page.getByText(/^Payload capture is on until/).waitFor()
})

question('who is told when more than five in a hundred calls fail?', async (page, press) => {
  await using receiver = await startReceiver()
  await press(view(page, 'Alerts'))
  await page.getByLabel('Failing calls: threshold').fill('5')
  await page.keyboard.press('Enter')
  await page.getByText(/^5% or more of the calls/).waitFor()
  await page.getByLabel('Webhook URL').fill(receiver.origin)
  await page.keyboard.press('Enter')
  await press(button(page, 'Send a test'))
  await receiver.waitFor(1)
  await page.getByRole('list').getByText('arrived').first().waitFor()
  await dashboard.ask('PUT', '/api/alerts', { webhook: null })
})

question('can a month have a budget?', async (page, press) => {
  await press(view(page, 'Costs'))
  await page.getByLabel('Monthly budget, USD').fill('100')
  await page.keyboard.press('Enter')
  await page.getByText('budget $100').waitFor()
})

question('is a restart seen in the log, and whose line is whose?', async (page, press) => {
  const { pid: before } = await dashboard.status()
  await press(view(page, 'Gateway'))
  await press(button(page, 'Restart'))
  await press(page.getByRole('dialog').getByRole('button', { name: 'Restart' }))
  const lines = page.getByRole('region', { name: 'Gateway log' })
  await lines
    .getByText(new RegExp(`\\[${before}\\]`))
    .first()
    .waitFor()
  await lines.getByText(new RegExp(`\\[(?!${before})\\d+\\] tokenweir gateway listening`)).waitFor()
})

question('how do I show this to somebody?', async (page, press) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await press(button(page, 'Copy a link to this view'))
  await page.getByRole('status').getByText('Copied.').waitFor()
  const link = new URL(await page.evaluate<string>('navigator.clipboard.readText()'))
  assert.equal(link.origin, dashboard.origin)
  assert.ok(link.searchParams.has('from') && link.searchParams.has('to'))
})

question('what is lost if old calls are folded?', async (page, press) => {
  await press(view(page, 'Settings'))
  await page.getByLabel('Keep individual calls for').fill('2')
  await page.keyboard.press('Enter')
  await page.getByText(/^9 calls would be rolled up/).waitFor()
  await press(button(page, 'Compress'))
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^Deleted: .*their sessions/).waitFor()
  await press(dialog.getByRole('button', { name: 'Compress' }))
  await dialog.waitFor({ state: 'detached' })
})
