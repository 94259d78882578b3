import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { runningStatus } from '../dashboard/scripted-gateway.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { sampleHealth } from '../support/sample-health.ts'
import { openDashboardPage, pressInTurn, startByButton, untilTrue } from './dashboard-page.ts'
import { dashboardOver } from './shared-dashboard.ts'

const busy: ProcessStatus = {
  ...runningStatus,
  health: {
    ...sampleHealth,
    rate_limiter: { ...sampleHealth.rate_limiter, active: 4, queued: 12_345 },
    token_budget: {
      daily_limit: 1000,
      total_used: 850,
      remaining: 150,
      percentage_used: 85,
      estimated: 0,
      known: true,
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
  }
  await page.setViewportSize({ width: 390, height: 800 })
  for (const path of ['/costs', '/gateway']) {
    await page.goto(dashboard.origin + path)
    await page.getByRole('banner').getByText('Demo').waitFor()
    await untilTrue(page, isCurrentViewSeen)
  }
})

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
    new RegExp(`^\\S+: .*process ${pid}\\) ended .* \\(SIGKILL\\)\\. The dashboard has started`),
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
