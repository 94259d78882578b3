import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Overview } from '../../src/api/overview.ts'
import type { SlotWaitsReport } from '../../src/api/slot-waits.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, untilStill, untilTrue } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { dashboardOver } from './shared-dashboard.ts'

/** The same instant gives the same calls: the figures below are theirs. */
const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const day = `from=${new Date(nowMs - 86_400_000).toISOString()}&to=${new Date(nowMs).toISOString()}`

/** What `1.05 s`, `12 ms` and `1 min 40 s` are in milliseconds. */
function millisecondsOf(words: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 }
  const parts = words.matchAll(/([\d.]+) (\w+)/g)
  return [...parts].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (units[unit] ?? Number.NaN),
    0,
  )
}

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
  writePageData(dir.path, 'incident', nowMs)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/overview')) asked.push(request.url())
  })
  const [answer] = await Promise.all([
    page.waitForResponse(/\/api\/overview/),
    page.goto(`${dashboard.origin}/?${day}`),
  ])
  const { buckets, slowest } = (await answer.json()) as Overview
  await untilReady(page)

  const cards = await page.getByRole('list', { name: 'Figures' }).getByRole('link').allInnerTexts()
  assert.deepEqual(
    cards.map((text) => text.split('\n').slice(0, 2).join(': ')),
    [
      'Requests: 4,000',
      'Error rate: 4.2%',
      'Latency p95: 26.7 s',
      'First token p95: 2.79 s',
      'Output speed: 76.7 tok/s',
      'Cached input: 18.2%',
      'Cost: $6.54',
    ],
  )

  const requests = await tableOf(page, 'Requests')
  assert.deepEqual(
    requests.map(([, failed]) => failed),
    buckets.errors.map(String),
  )
  const latency = await tableOf(page, 'Latency')
  assert.equal(latency.length, buckets.start_s.length)
  let told = 0
  for (const [index, [, , p95 = '']] of latency.entries()) {
    const n = buckets.duration_n[index] ?? 0
    if (n < 20) assert.equal(p95, n === 0 ? '–' : 'needs 20 calls')
    else {
      const ms = buckets.duration_p95_ms[index] ?? Number.NaN
      assert.ok(Math.abs(millisecondsOf(p95) / ms - 1) < 0.01, `${p95} for ${ms} ms`)
      told += 1
    }
  }
  assert.ok(told > 10, String(told))

  const slider = page.getByRole('slider', { name: 'Latency', exact: true })
  await slider.focus()
  await page.keyboard.press('Home')
  const spoken = (await slider.getAttribute('aria-valuetext')) ?? ''
  const [first = []] = latency
  assert.equal(spoken.includes(`p95 ${first[2]}`), true, spoken)
  assert.match(spoken, /^\d\d:\d\d: /)

  const slowestCalls = page.getByRole('table', { name: 'Slowest calls' }).getByRole('row')
  const rows = await slowestCalls.allInnerTexts()
  assert.deepEqual(
    rows.slice(1).map((row) => row.split('\t')[7]),
    [
      '4 min 19 s',
      '2 min 35 s',
      '1 min 59 s',
      '1 min 56 s',
      '1 min 54 s',
      '1 min 52 s',
      '1 min 40 s',
      '1 min 37 s',
      '1 min 37 s',
      '1 min 35 s',
    ],
  )
  await slowestCalls.nth(2).click()
  await page.getByRole('dialog').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: /^Next/ }).click()
  await page.waitForURL((url) => url.searchParams.get('call') === slowest[2]?.id)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.waitForURL((url) => !url.searchParams.has('call'))
  assert.equal(asked.length, 1, asked.join('\n'))

  // Back leads to where the page was left.
  await page.getByRole('list', { name: 'Figures' }).waitFor()
  const ranked = page.locator('.ranked-row').first()
  await ranked.scrollIntoViewIfNeeded()
  const left = await page.evaluate<number>('scrollY')
  assert.ok(left > 0)
  await ranked.click()
  await untilReady(page)
  await page.goBack()
  await untilTrue(page, `scrollY === ${left}`)
})

test('the figures are asked for again after a while, but not while something is dragged', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  await page.clock.install()
  // When it was asked by the page's own clock, which goes on by itself, too.
  await page.addInitScript(`{
    const ask = globalThis.fetch
    globalThis.askedAtMs = []
    globalThis.fetch = (...given) => {
      if (String(given[0]).startsWith('/api/overview')) askedAtMs.push(Date.now())
      return ask(...given)
    }
  }`)
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/overview')) asked++
  })
  await page.goto(`${dashboard.origin}/?range=1h`)
  await untilReady(page)
  await page.clock.runFor(11_000)
  await untilTrue(page, 'askedAtMs.length > 1')
  const [first = 0, second = 0] = await page.evaluate<number[]>('askedAtMs')
  assert.ok(second - first >= 10_000, `again after ${second - first} ms`)

  const { x = 0, y = 0 } =
    (await page.getByRole('slider', { name: 'Latency', exact: true }).boundingBox()) ?? {}
  await page.mouse.move(x + 20, y + 20)
  await page.mouse.down()
  await page.mouse.move(x + 90, y + 20, { steps: 3 })
  await untilStill(page)
  const before = asked
  await page.clock.runFor(25_000)
  assert.equal(asked, before)
  await page.mouse.up()
  await page.waitForURL(/from=/)
})

test('failed calls are told by status and model, too; a press on the error rate opens those that failed', async () => {
  const dashboard = await dashboardOver('incident')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  await untilReady(page)
  const card = page.getByRole('region', { name: 'Why calls failed' })
  await card.getByRole('button', { name: 'Status' }).click()
  const first = card.getByRole('listitem').first()
  // Its count may have three digits, too.
  const code = first.locator('.ranked-words', { hasText: /^\d{3}$/ })
  await code.waitFor()
  const status = await code.innerText()
  await first.getByRole('link').click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  const { searchParams } = new URL(page.url())
  assert.deepEqual([searchParams.get('status'), searchParams.get('errors_only')], [status, 'true'])
  await page.goBack()
  await untilReady(page)

  await page.getByRole('region', { name: 'Error rate' }).locator('.plot-surface').click()
  await page.waitForURL(/errors_only=true/)
  assert.equal(new URL(page.url()).pathname, '/calls')
})

test('which limit would have been enough is told beside the slots', async () => {
  const dashboard = await dashboardOver('incident')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  await untilReady(page)
  const answered = page.waitForResponse(/\/api\/slots/)
  await page
    .getByRole('region', { name: 'Slots and queue' })
    .getByRole('button', { name: 'How many slots?' })
    .click()
  const {
    estimates,
    no_waits_at: enough,
    max_concurrent: now,
  } = (await (await answered).json()) as SlotWaitsReport
  const panel = page.getByRole('group', { name: 'How many slots would be enough' })
  await panel.getByText(`with ${enough} slots, no call would have waited`).waitFor()
  const rows = panel.locator('tbody tr')
  assert.equal(await rows.count(), 1 + estimates.length)
  const [limit, waiting] = await rows.last().locator('th, td').allInnerTexts()
  assert.deepEqual(
    [limit, waiting?.replaceAll(/\s/g, ' ')],
    [enough === now ? `${enough}, as now` : `${enough}`, '0%'],
  )
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
})

test('another time is laid under the charts, and what figures change against', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard, { path: '/?range=6h', expected: /ERR_FAILED/ })
  const { page } = opened
  await untilReady(page)
  await page.keyboard.press('b')
  const answered = page.waitForResponse(/\/api\/overview.*to=/)
  await page
    .getByRole('group', { name: 'Compare with an earlier period' })
    .getByLabel('Previous period')
    .check()
  await page.waitForURL(/against=previous/)
  const earlier = (await (await answered).json()) as Overview
  assert.equal(Date.parse(earlier.to) - Date.parse(earlier.from), 6 * 3_600_000)
  const requests = page.getByRole('region', { name: 'Requests' })
  await requests.getByRole('button', { name: 'Calls, compared' }).waitFor()
  await page
    .getByRole('region', { name: 'Latency', exact: true })
    .getByRole('button', { name: 'p95, compared' })
    .waitFor()
  const column = (await tableOf(page, 'Requests')).map(([, calls = '']) => Number(calls.replaceAll(/,/g, '')))
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + (one || 0), 0)
  // A call at an edge may be of the bucket that is not shown.
  assert.ok(Math.abs(sum(column) - earlier.totals.calls) <= earlier.totals.calls / 20, String(sum(column)))

  await page.keyboard.press('b')
  await page.getByLabel('Previous week').check()
  await page.getByText('Nothing was recorded in the period to compare with.').waitFor()

  // Only the question about the earlier time comes to nothing.
  await page.route(/\/api\/overview.*to=/, (route) => route.abort())
  await page.getByLabel('Previous day').check()
  await page.getByText('Could not load the period to compare with.').waitFor()
  assert.equal(await page.getByText(/^Not updated since/).count(), 0)
  await page.getByLabel('Nothing').check()
  await page.waitForURL((url) => !url.search.includes('against'))
  await requests.getByRole('button', { name: 'Calls, compared' }).waitFor({ state: 'detached' })
})

test('the panel gives the focus back to the row of the call that it moved on to', async () => {
  const dashboard = await dashboardOver('day')
  await using opened = await openDashboardPage(dashboard, { path: '/?range=24h' })
  const { page } = opened
  await untilReady(page)
  const rows = page.getByRole('table', { name: 'Slowest calls' }).getByRole('button')
  const second = (await rows.nth(1).getAttribute('data-id')) ?? ''
  await rows.first().focus()
  await page.keyboard.press('Enter')
  await page.locator('#call-panel-title:focus').waitFor()
  await page.keyboard.press('j')
  await page.getByRole('dialog').getByText(second, { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator(`tr > td > [data-id="${second}"]:focus`).waitFor()
})
