import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Overview } from '../../src/api/overview.ts'
import { count, duration, percent, shortCount } from '../../ui/format/figures.ts'
import { startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/** The cells of the table that a chart turns into, row by row, the oldest first. */
async function tableOf(page: Page, title: string): Promise<readonly (readonly string[])[]> {
  const chart = page.getByRole('region', { name: title, exact: true })
  await chart.getByRole('button', { name: 'Table' }).click()
  const rows = await chart
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))
  await chart.getByRole('button', { name: 'Table' }).click()
  return rows.toReversed()
}

test('what is shown is what was answered: cards, the tables of charts, what charts say, and the list of calls', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'incident')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using browser = await startBrowser()
  await using opened = await openDashboardPage(browser, dashboard.origin, { path: '/gateway' })
  const { page } = opened
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/overview')) asked.push(request.url())
  })
  const [answer] = await Promise.all([
    page.waitForResponse(/\/api\/overview/),
    page.goto(`${dashboard.origin}/`),
  ])
  const { totals, buckets, slowest } = (await answer.json()) as Overview
  await untilReady(page)

  const card = (words: string): Promise<string> =>
    page.locator('.figure-card', { hasText: words }).locator('.figure-value').innerText()
  assert.equal(await card('Requests'), shortCount(totals.calls))
  assert.equal(await card('Error rate'), percent(totals.error_rate ?? Number.NaN))
  assert.equal(await card('Latency p95'), duration(totals.duration_ms.p95 ?? Number.NaN))

  const requests = await tableOf(page, 'Requests')
  assert.equal(requests.length, buckets.start_s.length)
  assert.deepEqual(
    requests.map(([, failed]) => failed),
    buckets.errors.map(count),
  )
  const latency = await tableOf(page, 'Latency')
  assert.deepEqual(
    latency.map(([, , p95]) => p95),
    buckets.duration_p95_ms.map((p95, index) => {
      const n = buckets.duration_n[index] ?? 0
      return n >= 20 ? duration(p95 ?? Number.NaN) : n === 0 ? '–' : 'needs 20 calls'
    }),
  )
  assert.ok(sum(buckets.duration_n.map(Number)) > 0)

  const slider = page.getByRole('slider', { name: 'Latency', exact: true })
  await slider.focus()
  await page.keyboard.press('Home')
  const spoken = (await slider.getAttribute('aria-valuetext')) ?? ''
  const [first = []] = latency
  assert.equal(spoken.includes(`p95 ${first[2]}`), true, spoken)
  assert.match(spoken, /^\d\d:\d\d: /)

  const rows = await page.locator('.calls-card tbody tr .is-total').allInnerTexts()
  assert.deepEqual(
    rows,
    slowest.slice(0, 12).map(({ duration_ms }) => duration(duration_ms ?? Number.NaN)),
  )
  await page.locator('.calls-card tbody tr').nth(1).click()
  await page.getByRole('dialog').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: /^Next/ }).click()
  await page.waitForURL((url) => url.search === `?call=${slowest[2]?.id}`)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.waitForURL((url) => url.search === '')
  assert.equal(asked.length, 1, asked.join('\n'))
  assert.deepEqual(opened.problems, [])
})

test('the figures are asked for again after a while, but not while something is dragged', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using browser = await startBrowser()
  await using opened = await openDashboardPage(browser, dashboard.origin, { path: '/gateway' })
  const { page } = opened
  await page.clock.install()
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/overview')) asked++
  })
  await page.goto(`${dashboard.origin}/?range=1h`)
  await untilReady(page)
  assert.equal(asked, 1)
  await page.clock.runFor(9000)
  assert.equal(asked, 1)
  const answered = page.waitForResponse(/\/api\/overview/)
  await page.clock.runFor(2000)
  await answered
  assert.equal(asked, 2)

  const { x = 0, y = 0 } =
    (await page.getByRole('slider', { name: 'Latency', exact: true }).boundingBox()) ?? {}
  await page.mouse.move(x + 20, y + 20)
  await page.mouse.down()
  await page.mouse.move(x + 90, y + 20, { steps: 3 })
  await page.clock.runFor(25_000)
  assert.equal(asked, 2)
  await page.mouse.up()
  await page.waitForURL(/from=/)
  assert.deepEqual(opened.problems, [])
})
