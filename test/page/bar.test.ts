import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { pagePaths } from '../../src/dashboard/http/page-assets.ts'
import { runningStatus } from '../dashboard/scripted-gateway.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { sampleHealth } from '../support/sample-health.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import {
  openDashboardPage,
  pressInTurn,
  startByButton,
  untilReady,
  untilStill,
  untilTrue,
} from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

const busy: ProcessStatus = {
  ...runningStatus,
  health: {
    ...sampleHealth,
    rate_limiter: { ...sampleHealth.rate_limiter, active: 4, queued: 12_345 },
    token_budget: {
      ...sampleHealth.token_budget,
      daily_limit: 1000,
      total_used: 850,
      remaining: 150,
      percentage_used: 85,
    },
  },
}

/** Has the page's stream tell of this status, and of nothing else. */
async function tell(page: Page, status: ProcessStatus): Promise<void> {
  const body = `event: gateway\ndata: ${JSON.stringify(status)}\n\n`
  await page.route('**/api/events?**', (route) => route.fulfill({ contentType: 'text/event-stream', body }))
  await page.reload()
}

test('slots, queue and budget are told in words on every view', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  await tell(page, busy)
  const link = page.getByRole('banner').getByRole('link', { name: 'Gateway: Running' })
  for (const words of ['4 of 4 slots', '12,345 waiting', '85% of budget']) {
    await link.getByText(words, { exact: true }).waitFor()
  }
  assert.equal(await link.locator('.slot-cells > .is-busy').count(), 4)
  await link.click()
  await page.waitForURL(`${dashboard.origin}/gateway`)
})

test('at every width the parts of the bar stand beside one another, and the view that is shown is among them', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/sessions' })
  const { page } = opened
  await tell(page, { ...busy, simulated: true })
  await page.getByRole('banner').getByText('waiting').waitFor()
  for (const width of [1600, 1440, 1366, 1280, 1200, 1199, 1100, 1024, 768, 390, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await untilTrue(page, isCurrentViewSeen)
    assert.deepEqual(await page.evaluate(overlapsInBar), [], String(width))
    const hidden = 'document.querySelector("nav").scrollWidth - document.querySelector("nav").clientWidth'
    if (width >= 768) assert.equal(await page.evaluate(hidden), 0, `views are hidden at ${width}`)
    assert.equal(
      await page.evaluate(areButtonsBeside),
      true,
      `the buttons have a row of their own at ${width}`,
    )
  }
  await page.setViewportSize({ width: 390, height: 800 })
  for (const path of ['/costs', '/gateway']) {
    await page.goto(dashboard.origin + path)
    await page.getByRole('banner').getByText('Demo').waitFor()
    await untilTrue(page, isCurrentViewSeen)
  }
})

/** Whether the buttons of the bar are in the row of the views. */
const areButtonsBeside = `(() => {
  const [views, buttons] = ['nav', '.top-bar-buttons'].map((part) => document.querySelector(part).getBoundingClientRect())
  return buttons.top < views.bottom
})()`

/** Whether all of the present view's name is within the row of views. */
const isCurrentViewSeen = `(() => {
  const row = document.querySelector('nav').getBoundingClientRect()
  const { left, right } = document.querySelector('nav [aria-current]').getBoundingClientRect()
  return row.left <= left + 1 && right <= row.right + 1
})()`

/** Parts of the bar that reach into what is beside them, in the same row. */
const overlapsInBar = `(() => {
  const parts = [...document.querySelectorAll('.top-bar-row > *, .now-link > *')]
    .filter((part) => part.checkVisibility() && part.matches(':not(:has(.now-link))'))
    .map((part) => ({ part, box: part.getBoundingClientRect() }))
    .filter(({ part, box }) => {
      const link = part.closest('.now-link')?.getBoundingClientRect()
      return link === undefined || box.top < link.bottom
    })
  return parts.flatMap(({ part, box }, at) => parts.slice(at + 1)
    .filter(({ box: other }) => box.left < other.right - 1 && other.left < box.right - 1 &&
      box.top < other.bottom - 1 && other.top < box.bottom - 1)
    .map(({ part: other }) => part.textContent + ' | ' + other.textContent))
})()`

test('a gateway that is down is started from the bar, or it says why not', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  await using opened = await openDashboardPage(dashboard, { expected: / 500 / })
  const { page } = opened
  const bar = page.getByRole('banner')
  await bar.getByText('Stopped', { exact: true }).waitFor()
  await page.route('**/api/proxy/start', (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'start_failed', message: 'No.', param: null } } }),
  )
  await bar.getByRole('button', { name: 'Start the gateway' }).click()
  await bar.getByRole('alert').getByText('The gateway failed to start. No.').waitFor()
  await page.unroute('**/api/proxy/start')
  await bar.getByRole('button', { name: 'Start the gateway' }).click()
  await bar.getByText('Running', { exact: true }).waitFor()
  await bar.getByRole('alert').waitFor({ state: 'detached' })
})

test('a gateway that is killed is started again, which the bar and the Gateway view tell', async () => {
  await using dashboard = await startDashboardProcess({ args: ['--upstream', 'http://127.0.0.1:9/v1'] })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  const pid = await startByButton(opened)
  process.kill(pid, 'SIGKILL')
  await page.getByRole('banner').getByText('Running, restarted after a crash', { exact: true }).waitFor()
  await opened.untilText(
    'crash',
    new RegExp(`^\\S+: .*process ${pid}\\) crashed \\(SIGKILL\\)\\. The dashboard has started`),
  )
  assert.notEqual((await dashboard.status()).pid, pid)
})

test('on a phone the state stays in sight and leaves room for the rest', async () => {
  const dashboard = await dashboardOver('none')
  for (const width of [320, 390]) {
    const options = { viewport: { width, height: 700 }, hasTouch: true }
    await using opened = await openDashboardPage(dashboard, options)
    const { page } = opened
    const views = page.getByRole('navigation', { name: 'Views' })
    for (const keys of ['gg', 'go']) {
      await pressInTurn(page, keys)
      const shown = views.locator('[aria-current]')
      await views
        .getByRole('link', { name: keys === 'gg' ? 'Gateway' : 'Overview' })
        .and(shown)
        .waitFor()
      await untilTrue(page, isCurrentViewSeen)
    }
    for (const status of [busy, { ...runningStatus, state: 'draining' } as const]) {
      await tell(page, status)
      await page.getByRole('link', { name: /^Gateway:/ }).waitFor()
      // A long page, whatever the view has to show.
      await page.evaluate('document.querySelector("main").style.minHeight = "3000px"; scrollTo(0, 1000)')
      await untilTrue(page, 'scrollY === 1000')
      const seen = await page.evaluate<readonly number[]>(
        `[document.documentElement.scrollWidth, document.querySelector('.top-bar').getBoundingClientRect().bottom,
          document.querySelector('.now-state').getBoundingClientRect().top]`,
      )
      const [pageWidth = 0, barBottom = 0, stateTop = 0] = seen
      assert.equal(pageWidth, width)
      assert.ok(barBottom > 0 && barBottom <= 52 && stateTop >= 0, JSON.stringify(seen))
    }
  }
})

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
  const told = await dialog.locator('.help-keys dt').allInnerTexts()
  assert.deepEqual(told, [...new Set(told)], 'a shortcut is listed twice')
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

test('each figure and heading of every view is explained by a whole sentence', async () => {
  await using opened = await openDashboardPage(await dashboardOver('incident'))
  const { page } = opened
  for (const path of pagePaths) {
    await page.goto(new URL(path, page.url()).href)
    await untilReady(page)
    const told = await page
      .locator('[data-term], thead [title]')
      .evaluateAll((found) => found.map((element) => element.getAttribute('title')))
    assert.deepEqual(
      told.filter((title) => title?.endsWith('.') !== true),
      [],
      path,
    )
  }
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
