/** What people come to ask, and how few presses each takes from the first page. What is typed is no press. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { Overview } from '../../src/api/overview.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const most = 3

const dayMs = 86_400_000

const { dashboard, browser } = await shareDashboard((folder) => {
  // Of the day before there are calls until the last minute of this one.
  const nowMs = Date.now()
  writePageData(folder, 'incident', nowMs)
  writeRuns(folder, [{ session: 'yesterday', calls: 9, agoMs: (nowMs % dayMs) + dayMs / 2 }], nowMs)
})
const opened = await openDashboardPage(browser, dashboard.origin)
after(() => assert.deepEqual(opened.problems, []))

type Press = (target: Locator) => Promise<void>

/** A question that is asked from the first page on. */
function question(words: string, ask: (page: Page, press: Press) => Promise<void>): void {
  test(words, async () => {
    const { page } = opened
    await page.goto(dashboard.origin)
    await untilReady(page)
    let presses = 0
    await ask(page, async (target) => {
      presses++
      await target.click()
    })
    assert.ok(presses <= most, `${presses} presses`)
  })
}

const view = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true })
const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true })
const asked = async <T>(path: string): Promise<T> => (await (await dashboard.ask('GET', path)).json()) as T

question('which call has this id?', async (page, press) => {
  const [call] = (await asked<{ calls: readonly CallJson[] }>('/api/query?limit=1')).calls
  assert.ok(call !== undefined)
  await press(view(page, 'Calls'))
  await page.getByRole('searchbox').fill(call.id)
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
  await press(button(page, 'Which limit?'))
  await page.getByText(/nobody would have waited/).waitFor()
})

question('which calls of one client were answered 429?', async (page, press) => {
  await press(view(page, 'Calls'))
  await page.getByRole('searchbox').fill('429')
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
  await press(button(page, 'Custom'))
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
  await page.locator('.curve-lines > path').nth(1).waitFor()
})

question('what is under way now?', async (page, press) => {
  await press(view(page, 'Live'))
  await page
    .getByRole('region', { name: /now|in progress/i })
    .first()
    .waitFor()
})

question('what would folding old calls give back?', async (page, press) => {
  await press(view(page, 'Settings'))
  await page.getByLabel('Keep individual calls for').fill('1')
  await press(button(page, 'Estimate'))
  await page.getByText(/would be rolled up|there are no calls that old/).waitFor()
})

question('may more calls run at once?', async (page, press) => {
  await dashboard.ask('POST', '/api/proxy/start')
  await press(view(page, 'Settings'))
  await page.getByLabel('Maximum concurrent calls').fill('7')
  await page.keyboard.press('Enter')
  await page.getByText('Saved, and in force.').waitFor()
  await page.getByRole('banner').getByText('of 7 slots').waitFor()
  await dashboard.ask('POST', '/api/proxy/stop')
})

question('how do I get these calls as a file?', async (page, press) => {
  await press(view(page, 'Calls'))
  await press(page.getByRole('button', { name: 'Export' }))
  await page.getByRole('link', { name: /^CSV,/ }).waitFor()
})
