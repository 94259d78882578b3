import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openDashboardPage, pressInTurn, untilReady, untilStill } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

const at = async (page: Page, expected: string): Promise<void> => {
  await page.waitForURL((url) => url.pathname + url.search === expected)
}

const themeOf = (page: Page): Promise<string | null> =>
  page.evaluate<string | null>('document.documentElement.getAttribute("data-theme")')

test('keys go where their list says, but not from within a field or with another key held down', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await button('Errors only').waitFor()
  await page.keyboard.press('1')
  await at(page, '/?range=1h')
  await page.keyboard.press('e')
  await at(page, '/?range=1h&errors_only=true')
  await page.keyboard.press('Control+5')
  await page.keyboard.press('Alt+4')
  await page.keyboard.press('3')
  await at(page, '/?range=24h&errors_only=true')

  await button('Custom').click()
  await page.getByLabel('From').focus()
  await page.keyboard.type('5')
  assert.equal(new URL(page.url()).search, '?range=24h&errors_only=true')
  await page.keyboard.press('Escape')

  for (const [keys, path] of [
    ['gg', '/gateway'],
    ['gc', '/calls'],
    ['go', '/'],
  ] as const) {
    await pressInTurn(page, keys)
    await page.waitForURL((url) => url.pathname === path)
  }
  await button('All models').waitFor()
  await page.keyboard.press('m')
  await page.getByRole('group', { name: 'Models', exact: true }).waitFor()
})

test('the list of keys is there, and can switch them off for good', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await button('Errors only').waitFor()
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Help' })
  await dialog.getByText('Choose models').waitFor()
  await dialog.getByText('Next theme').waitFor()
  // What is behind a dialog does not answer to keys.
  await page.keyboard.press('1')
  await dialog.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.keyboard.press('2')
  await page.keyboard.press('?')
  await page.keyboard.type('gc')
  assert.equal(page.url(), `${dashboard.origin}/`)
  assert.equal(await dialog.count(), 0)

  await page.reload()
  await button('Help').click()
  const choice = dialog.getByRole('checkbox', { name: 'Single-key shortcuts' })
  assert.equal(await choice.isChecked(), false)
  await choice.check()
  await button('Close').click()
  await page.keyboard.press('2')
  await at(page, '/?range=6h')
})

test('every figure says what it means: to the keyboard, and in the help', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await untilReady(page)
  const hint = page.locator('.focus-hint')
  const card = page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: /^Error rate/ })
  await button('Errors only').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  while ((await card.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('Tab')
  await hint.getByText('Share of calls that failed, not counting calls whose client left.').waitFor()
  await page.keyboard.press('Escape')
  await hint.waitFor({ state: 'hidden' })

  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Help' })
  await dialog.getByRole('heading', { name: 'Figures' }).waitFor()
  const told = async (): Promise<readonly string[]> => dialog.locator('.help-terms dt').allInnerTexts()
  const overview = await told()
  for (const words of ['Error rate', 'Latency p95', 'p99', 'Wait p95', 'Tokens in', 'Why calls failed']) {
    assert.ok(overview.includes(words), words)
  }
  assert.equal(new Set(overview).size, overview.length)
  await page.keyboard.press('Escape')
  await pressInTurn(page, 'g$')
  await page.getByRole('region', { name: 'Spend over time' }).waitFor()
  await page.keyboard.press('?')
  await dialog.getByText('Spend over time').waitFor()
  assert.ok(!(await told()).includes('Wait p95'))
})

test('the help moves nothing while it is loaded, and comes back however soon after Escape', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await button('Errors only').waitFor()
  const dialog = page.getByRole('dialog', { name: 'Help' })
  const heightOfBar = async (): Promise<number | undefined> =>
    (await page.locator('.top-bar').boundingBox())?.height
  const before = await heightOfBar()
  const loaded = Promise.withResolvers<void>()
  await page.route(/help-dialog/, async (route) => {
    await loaded.promise
    await route.continue()
  })
  const asked = page.waitForRequest(/help-dialog/)
  await page.keyboard.press('?')
  await asked
  await untilStill(page)
  assert.equal(await heightOfBar(), before)
  loaded.resolve()
  await dialog.waitFor()
  for (let again = 0; again < 10; again++) {
    await pressInTurn(page, ['Escape', '?'])
    await dialog.waitFor()
    await untilStill(page)
    assert.equal(await dialog.count(), 1)
  }
})

test('a theme is kept, and is there before anything is painted', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { colorScheme: 'light', expected: /ERR_FAILED/ })
  const { page, button } = opened
  const ground = (): Promise<string> =>
    page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground()
  await button('Theme: system').click()
  assert.equal(await themeOf(page), 'light')
  await page.keyboard.press('t')
  assert.equal(await themeOf(page), 'dark')
  assert.notEqual(await ground(), light)

  // The page's own script never comes: the theme is there all the same.
  await page.route(/\/assets\/index-.*\.js/, (route) => route.abort())
  await page.reload()
  assert.equal(await themeOf(page), 'dark')
  assert.notEqual(await ground(), light)
  await page.unroute(/\/assets\/index-.*\.js/)
  await page.reload()
  await button('Theme: dark').click()
  await button('Theme: system').waitFor()
  assert.equal(await themeOf(page), null)
  assert.equal(await ground(), light)
  await page.reload()
  assert.equal(await themeOf(page), null)
})
