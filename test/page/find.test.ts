/** One dialog finds calls, models, clients and sessions, on every view. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { CallJson } from '../../src/call/call-record.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const requestId = 'chatcmpl-9f86d081884c7d65'

const dashboard = await shareDashboard((folder) => {
  writePageData(folder, 'day')
  writeRuns(folder, [{ session: 'old run', calls: 9, agoMs: 5 * 86_400_000 }])
  const database = openForWriting(pageDatabase(folder))
  database
    .prepare('UPDATE calls SET upstream_request_id = ? WHERE id = (SELECT max(id) FROM calls)')
    .run(requestId)
  database.close()
})

const newest = async (): Promise<CallJson> => {
  const answer = await dashboard.ask('GET', '/api/query?limit=1')
  const [call] = ((await answer.json()) as { readonly calls: readonly CallJson[] }).calls
  assert.ok(call !== undefined)
  return call
}

const finder = (page: Page): Locator => page.getByRole('dialog', { name: 'Find' })
const field = (page: Page): Locator => finder(page).getByRole('combobox')

/** Types a text and Enter into the dialog, which `/` opens. */
async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await field(page).fill(text)
  await page.keyboard.press('Enter')
  await finder(page).waitFor({ state: 'detached' })
}

test('what is found leads to its view, whatever is filtered there', async () => {
  const call = await newest()
  await using opened = await openDashboardPage(dashboard, {
    path: '/costs?range=7d&client=nobody',
  })
  const { page } = opened
  await untilReady(page)
  const { model, client } = call
  assert.ok(model !== null && client !== null)
  for (const [text, path, query] of [
    [model.toUpperCase(), '/calls', { range: '7d', model }],
    [client, '/calls', { range: '7d', client }],
    ['LD RU', '/sessions', { session: 'old run' }],
    ['429', '/calls', { status: '429' }],
    ['upstream_reset', '/calls', { q: 'upstream_reset' }],
    [` ${call.id.toUpperCase()} `, '/calls', { q: 'upstream_reset', call: call.id }],
  ] as const) {
    await find(page, text)
    await page.waitForURL(
      (url) =>
        url.pathname === path &&
        Object.entries(query).every(([name, value]) => url.searchParams.get(name) === value),
    )
  }
  await page.getByRole('dialog').getByRole('heading', { name: model }).waitFor()
})

test('an upstream’s id of a request finds its call in the range', async () => {
  const { id } = await newest()
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  await untilReady(page)
  await find(page, requestId)
  await page.waitForURL((url) => url.searchParams.get('call') === id)
  await page.goto(`${dashboard.origin}/?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z`)
  await untilReady(page)
  await page.keyboard.press('/')
  await field(page).fill(requestId)
  await finder(page).getByText('1 result.').waitFor()
  await finder(page)
    .getByRole('option', { name: /failure code or trace/ })
    .waitFor()
})

test('the arrow keys choose, Escape closes, and the focus goes back', async () => {
  await using opened = await openDashboardPage(dashboard, {
    viewport: { width: 390, height: 800 },
  })
  const { page, button } = opened
  await untilReady(page)
  await button('Find').click()
  await finder(page)
    .getByRole('status')
    .getByText(/^\d+ results\./)
    .waitFor()
  for (const kind of ['Models', 'Clients', 'Sessions']) {
    const ofKind = await finder(page).getByRole('group', { name: kind }).getByRole('option').count()
    assert.ok(ofKind > 0 && ofKind <= 8, `${ofKind} ${kind}`)
  }
  const chosen = (): Promise<number> =>
    page.evaluate<number>(`[...document.querySelectorAll('[role="option"]')].findIndex(
      ({ id }) => id === document.activeElement.getAttribute('aria-activedescendant'))`)
  assert.equal(await chosen(), 0)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  assert.equal(await chosen(), 2)
  await page.keyboard.press('ArrowUp')
  assert.equal(await chosen(), 1)
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await page.keyboard.press('Escape')
  await finder(page).waitFor({ state: 'detached' })
  await button('Find').and(page.locator(':focus')).waitFor()
  // From within a field, too.
  await page.goto(`${dashboard.origin}/sessions`)
  await page.getByRole('searchbox', { name: 'Find session' }).focus()
  await page.keyboard.press('Control+k')
  await field(page).waitFor()
})
