import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { idsPerMs } from '../../src/call/call-id.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'
import { chatCall } from '../store/sample-call.ts'
import { responseHead } from '../support/response-bytes.ts'
import { write } from '../support/reply-step.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, untilStill } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { dashboardOver } from './shared-dashboard.ts'

const figureCards = (page: Page): Locator => page.getByRole('list', { name: 'Figures' }).getByRole('link')

test('before the first call: how to make it, with this gateway’s address', async () => {
  await using upstream = await startSimulatedUpstream()
  const list = JSON.stringify({ data: [{ id: 'text-embed' }, { id: 'qwen3:8b' }] })
  const head = responseHead(200, [['Content-Length', String(list.length)]])
  upstream.replyOnce([write(head), write(list)])
  await using dashboard = await startDashboardProcess({
    args: ['--gateway-port', '19876', '--upstream', upstream.baseUrl],
  })
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  const card = page.getByRole('region', { name: 'No calls yet' })
  await card.getByText('http://127.0.0.1:19876/v1', { exact: true }).waitFor()
  assert.match(
    await card.locator('pre').innerText(),
    /^curl http:\/\/127\.0\.0\.1:19876\/v1\/chat\/completions/,
  )
  // It names a model that the upstream has.
  await card.locator('pre').getByText('{"model": "qwen3:8b"').waitFor()
  await card.getByRole('button', { name: 'Python' }).click()
  assert.match(await card.locator('pre').innerText(), /base_url="http:\/\/127\.0\.0\.1:19876\/v1"/)
})

test('a database without a call is as new as none', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'empty')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard)
  await opened.page.getByRole('region', { name: 'No calls yet' }).waitFor()
  // The first ones are there without a reload, and are greeted.
  writePageData(dir.path, 'three')
  await opened.page.getByRole('status').getByText('Your first call is recorded.').waitFor()
  await figureCards(opened.page).first().waitFor()
})

test('three calls say what they are, and are no percentiles; filtered to nothing it offers the way back', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { path: '/?range=1h' })
  const { page } = opened
  await untilReady(page)
  const latency = figureCards(page).filter({ hasText: 'Latency' })
  assert.match(await latency.innerText(), /^Latency\n\d\.\d+–\d\.\d+ s\n2 calls/)
  const slider = page.getByRole('slider', { name: 'Latency', exact: true })
  await slider.focus()
  const told = new Set<string>()
  for (let minute = 0; minute < 15; minute++) {
    await page.keyboard.press('ArrowLeft')
    told.add(/: (.*)$/.exec((await slider.getAttribute('aria-valuetext')) ?? '')?.[1] ?? '')
  }
  assert.match([...told].join(';'), /Individual calls \d\.\d+ s, 1 call/)
  const isWithin = `[...document.querySelectorAll('.figure-value')].every((value) => {
    const letters = document.createRange()
    letters.selectNodeContents(value)
    return letters.getBoundingClientRect().right <= value.getBoundingClientRect().right
  })`
  for (const width of [1440, 1170, 900, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await untilStill(page)
    assert.equal(await page.evaluate(isWithin), true, String(width))
  }
  assert.doesNotMatch([...told].join(';'), /p95/)

  await page.goto(`${dashboard.origin}/?range=1h&model=nobody-asked-for-it`)
  await page.getByRole('region', { name: 'No calls match' }).waitFor()
  await page.locator('main').getByRole('link', { name: 'Clear filters' }).click()
  await latency.waitFor()
  assert.equal(new URL(page.url()).search, '?range=1h')
})

test('ranges are of the dashboard’s clock, however far off the browser’s is', async () => {
  const dashboard = await dashboardOver('three')
  for (const hours of [3, -3]) {
    await using opened = await openDashboardPage(dashboard, {
      path: '/?range=1h',
      clockAheadMs: hours * 3_600_000,
    })
    const { page } = opened
    assert.match(await figureCards(page).filter({ hasText: 'Requests' }).innerText(), /^Requests\n3\n/)
    await page.goto(`${dashboard.origin}/calls?range=1h`)
    await page.getByText('3 calls', { exact: true }).first().waitFor()
    await page.getByText('Calls per minute', { exact: true }).waitFor()
    await page.getByText(/^All, peak \d/).waitFor()
    await page.goto(`${dashboard.origin}/costs?range=1h`)
    await page.getByText(/^\+ 2 unpriced calls$/).waitFor()
    // The chart's times are the dashboard's too.
    await page.goto(`${dashboard.origin}/?tz=utc&range=1h`)
    // Of the hour before there are some, too, and those alone around midnight, which has its date.
    const clockHours = [60, 1].map((ago) => new Date(Date.now() - ago * 60_000).toISOString().slice(11, 13))
    await page
      .getByRole('region', { name: 'Latency', exact: true })
      .getByText(new RegExp(`^(?:${clockHours.join('|')}):`))
      .first()
      .waitFor({ state: 'attached' })
  }
})

test('opened without a range it shows the last hour, where all calls are of it; what is asked for stays', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard)
  const { page, button } = opened
  await page.waitForURL(({ search }) => search === '?range=1h')
  await untilReady(page)
  await button('24h').click()
  await page.getByText(/^Updated .* per 15.min$/).waitFor()
  assert.equal(new URL(page.url()).search, '?range=24h')
  await page.reload()
  await page.getByText(/^Updated .* per 15.min$/).waitFor()
})

test('a database of calls that name no model is none without calls', async () => {
  await using dir = await makeTempDir()
  const database = openForWriting(pageDatabase(dir.path))
  const words = new Dictionary()
  const old = chatCall((Math.floor(Date.now()) - 3 * 86_400_000) * idsPerMs)
  const batch = new BatchEncoder().encode([{ ...old, model: null }])
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  database.close()
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard)
  await opened.page.getByRole('region', { name: 'No calls in this range' }).waitFor()
})

test('an answer that does not come at first is told with a way to ask again; later ones leave the figures', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 503 / })
  const { page } = opened
  const broken = {
    status: 503,
    json: { error: { code: 'too_slow', message: 'It took too long.', param: null } },
  }
  const overview = /\/api\/overview/
  await page.route(overview, (route) => route.fulfill(broken))
  await page.getByRole('link', { name: 'Overview' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('It took too long.').waitFor()
  await page.unroute(overview)
  await alert.getByRole('button', { name: 'Try again' }).click()
  await figureCards(page).first().waitFor()

  await page.route(overview, (route) => route.fulfill(broken))
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('alert').getByText('It took too long.').waitFor()
  assert.equal(await figureCards(page).count(), 7)
})
