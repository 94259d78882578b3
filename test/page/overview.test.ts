import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import type { Overview } from '../../src/api/overview.ts'
import type { SlotWaitsReport } from '../../src/api/slot-waits.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import { chatCall } from '../store/sample-call.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { write } from '../support/reply-step.ts'
import { responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, untilReady, untilStill, untilTrue } from './dashboard-page.ts'
import { pageDatabase, writePageData } from './page-data.ts'
import { dashboardOver, shareDashboard } from './shared-dashboard.ts'
import { writeCalls } from '../store/write-calls.ts'

/** The same instant gives the same calls: the figures below are theirs. */
const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const incident = await shareDashboard((folder) => writePageData(folder, 'incident', nowMs))
const day = 'from=2026-11-18T16:24:00Z&to=2026-11-19T16:24:00Z'

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
  const ofDay = page.getByText(/^per 15.min$/).first()
  await button('24h').click()
  await ofDay.waitFor()
  assert.equal(new URL(page.url()).search, '?range=24h')
  await page.reload()
  await ofDay.waitFor()
})

test('a database of calls that name no model is none without calls', async () => {
  await using dir = await makeTempDir()
  const old = chatCall((Math.floor(Date.now()) - 3 * 86_400_000) * idsPerMs)
  writeCalls(pageDatabase(dir.path), [{ ...old, model: null }])
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
  await using opened = await openDashboardPage(incident, { path: '/gateway' })
  const { page } = opened
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/overview')) asked.push(request.url())
  })
  const [answer] = await Promise.all([
    page.waitForResponse(/\/api\/overview/),
    page.goto(`${incident.origin}/?${day}`),
  ])
  const { buckets, slowest } = (await answer.json()) as Overview
  await untilReady(page)

  const cards = await page.getByRole('list', { name: 'Figures' }).getByRole('link').allInnerTexts()
  assert.deepEqual(
    cards.map((text) => text.split('\n').slice(0, 2).join(': ')),
    [
      'Requests: 4,000',
      'Error rate: 5.9%',
      'Latency p95: 26.8 s',
      'First token p95: 2.53 s',
      'Output speed: 78.2 tok/s',
      'Cached input: 30.7%',
      'Cost: $7.40',
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
      '11 min 49 s',
      '4 min 18 s',
      '3 min 41 s',
      '3 min 13 s',
      '3 min 4 s',
      '2 min 30 s',
      '2 min 22 s',
      '2 min 16 s',
      '2 min 4 s',
      '1 min 43 s',
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

test('while the figures are awaited, a place is kept for each of them', async () => {
  await using opened = await openDashboardPage(incident, { path: `/?${day}` })
  const { page } = opened
  await untilReady(page)
  const gate = Promise.withResolvers<void>()
  await page.route('**/api/overview?**', async (route) => {
    await gate.promise
    await route.continue()
  })
  const cards = page.locator('.figure-cards > *')
  const topBelow = async (): Promise<number> =>
    Math.round((await page.locator('.overview-pair').first().boundingBox())?.y ?? 0)
  const known = [await cards.count(), await topBelow()]
  await page.reload()
  await page.getByRole('status', { name: 'Loading' }).waitFor()
  assert.deepEqual([await cards.count(), await topBelow()], known)
  gate.resolve()
  await untilReady(page)
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
    [enough === now ? `${enough} (now)` : `${enough}`, '0%'],
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
  const against = page.getByRole('combobox', { name: 'Compare with an earlier period' })
  await against.and(page.locator(':focus')).waitFor()
  await against.selectOption('vs. previous period')
  await page.waitForURL(/against=previous/)
  const earlier = (await (await answered).json()) as Overview
  assert.equal(Date.parse(earlier.to) - Date.parse(earlier.from), 6 * 3_600_000)
  const requests = page.getByRole('region', { name: 'Requests' })
  const change = page
    .getByRole('list', { name: 'Figures' })
    .getByText(/was [\d,]+$/)
    .first()
  await change.waitFor()
  await requests.getByRole('button', { name: 'Calls, compared' }).waitFor()
  await page
    .getByRole('region', { name: 'Latency', exact: true })
    .getByRole('button', { name: 'p95, compared' })
    .waitFor()
  const column = (await tableOf(page, 'Requests')).map(([, calls = '']) => Number(calls.replaceAll(/,/g, '')))
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + (one || 0), 0)
  // A call at an edge may be of the bucket that is not shown.
  assert.ok(Math.abs(sum(column) - earlier.totals.calls) <= earlier.totals.calls / 20, String(sum(column)))

  await against.selectOption('vs. previous week')
  await page.getByText('Nothing was recorded in the period to compare with.').waitFor()

  // Only the question about the earlier time comes to nothing.
  await page.route(/\/api\/overview.*to=/, (route) => route.abort())
  await against.selectOption('vs. previous day')
  await page.getByText('Could not load the period to compare with.').waitFor()
  // No figure is compared with a period that was not chosen.
  await change.waitFor({ state: 'detached' })
  assert.equal(await page.getByText(/^Not updated since/).count(), 0)
  await against.selectOption('No comparison')
  await page.waitForURL((url) => !url.search.includes('against'))
  await requests.getByRole('button', { name: 'Calls, compared' }).waitFor({ state: 'detached' })
  await change.waitFor()
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
  await page.locator(`tr > th > [data-id="${second}"]:focus`).waitFor()
})

/** A colour as ui/design/tokens.css has it. */
type Rgb = readonly [red: number, green: number, blue: number]

interface Colours {
  readonly accent: Rgb
  readonly p50: Rgb
  readonly bad: Rgb
  readonly edge: Rgb
  readonly stream: Rgb
  readonly cost: Rgb
  readonly kind1: Rgb
}

const themes: Readonly<Record<'light' | 'dark', Colours>> = {
  light: {
    accent: [11, 107, 203],
    p50: [82, 150, 220],
    bad: [192, 38, 47],
    edge: [132, 144, 155],
    stream: [15, 118, 110],
    cost: [109, 74, 196],
    kind1: [109, 74, 196],
  },
  dark: {
    accent: [90, 169, 255],
    p50: [63, 127, 196],
    bad: [255, 125, 127],
    edge: [109, 120, 136],
    stream: [60, 196, 178],
    cost: [180, 155, 245],
    kind1: [165, 139, 240],
  },
}

/** So far may a pixel be from a colour, in each of its parts: lines are drawn with soft edges. */
const near = 24

/** How many pixels of what a reader sees there have this colour. */
async function pixelsOf(place: Locator, [red, green, blue]: Rgb): Promise<number> {
  const picture = (await place.screenshot()).toString('base64')
  return place.page().evaluate<number>(`(async () => {
    const bytes = Uint8Array.from(atob('${picture}'), (letter) => letter.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, image.width, image.height)
    let count = 0
    for (let at = 0; at < data.length; at += 4) {
      const far = Math.max(Math.abs(data[at] - ${red}), Math.abs(data[at + 1] - ${green}), Math.abs(data[at + 2] - ${blue}))
      if (far <= ${near}) count += 1
    }
    return count
  })()`)
}

async function isDrawn(what: string, place: Locator, colour: Rgb, least: number): Promise<void> {
  const pixels = await pixelsOf(place, colour)
  assert.ok(pixels >= least, `${what}: ${pixels} pixels in rgb(${colour.join(', ')}), ${least} at least`)
}

/** The plots of a chart, without its head and its legend: these have the same colours. */
const plotsOf = (page: Page, title: string): Locator =>
  page.getByRole('region', { name: title, exact: true }).locator('.plot-drawing')

for (const [theme, colours] of Object.entries(themes)) {
  test(`every kind of chart is drawn, in the ${theme} theme`, async (t) => {
    await using opened = await openDashboardPage(incident, {
      path: `/?${day}`,
      colorScheme: theme === 'dark' ? 'dark' : 'light',
      viewport: { width: 1280, height: 1000 },
    })
    const { page } = opened
    await untilReady(page)

    await t.test('lines', async () => {
      await isDrawn('p95', plotsOf(page, 'Latency'), colours.accent, 200)
      await isDrawn('p50', plotsOf(page, 'Latency'), colours.p50, 200)
      await isDrawn('p95', plotsOf(page, 'Time to first token'), colours.accent, 50)
      await isDrawn('median', plotsOf(page, 'Output speed'), colours.stream, 100)
    })

    await t.test('bars and areas', async () => {
      const [calls, rate] = [plotsOf(page, 'Requests'), plotsOf(page, 'Error rate')]
      await isDrawn('edge of the calls', calls, colours.p50, 150)
      // There are few. Undrawn there is none.
      await isDrawn('failed calls', calls, colours.bad, 5)
      await isDrawn('error rate', rate, colours.bad, 50)
    })

    await t.test('slots and queue', async () => {
      const slots = plotsOf(page, 'Slots and queue')
      await isDrawn('in use', slots.nth(0), colours.p50, 500)
      await isDrawn('waiting', slots.nth(1), colours.edge, 50)
    })

    await t.test('heat map', async () => {
      // The cell with the most calls has the whole colour; the rest are fainter.
      const map = plotsOf(page, 'Latency distribution')
      await isDrawn('strongest cell', map, colours.accent, 40)
    })

    await t.test('sparklines', async () => {
      const figures = page.getByRole('list', { name: 'Figures' })
      const course = (words: string): Locator => figures.getByRole('link', { name: words }).locator('svg')
      await isDrawn('requests', course('Requests'), colours.accent, 100)
      await isDrawn('error rate', course('Error rate'), colours.bad, 100)
      await isDrawn('speed', course('Output speed'), colours.stream, 50)
      await isDrawn('cost', course('Cost'), colours.cost, 100)
    })

    await t.test('volume strip', async () => {
      await page.goto(`${incident.origin}/calls?${day}`)
      await untilReady(page)
      const strip = page.getByRole('slider', { name: 'Calls over time' })
      await isDrawn('calls', strip, colours.p50, 1000)
      await isDrawn('failed calls', strip, colours.bad, 100)
      // A time at the edge of the strip stays within it.
      await page.goto(`${incident.origin}/calls?from=2026-11-19T16:00:00Z&to=2026-11-19T16:00:20Z`)
      await untilReady(page)
      const isInside = `[...document.querySelectorAll('.volume .plot-time')].every((label) =>
        label.getBoundingClientRect().left >= document.querySelector('.volume').getBoundingClientRect().left)`
      assert.equal(await page.evaluate(isInside), true)
    })

    await t.test('spend', async () => {
      await page.goto(`${incident.origin}/costs?${day}`)
      await untilReady(page)
      await isDrawn('first model', plotsOf(page, 'Spend over time'), colours.kind1, 500)
    })
  })
}

interface Group {
  readonly key: string
  readonly calls: number
  readonly duration_ms: { readonly n: number; readonly p95: number }
}

test('the slowest model is two presses away; its line is drawn, spoken, and leads to its calls', async () => {
  await using opened = await openDashboardPage(incident, { path: `/?${day}` })
  const { page } = opened
  await untilReady(page)
  await page.getByRole('link', { name: 'Compare' }).click()
  await untilReady(page)
  assert.equal(new URL(page.url()).pathname, '/compare')

  const answer = await incident.ask('GET', `/api/query?group_by=model&${day}`)
  const { groups } = (await answer.json()) as { groups: readonly Group[] }
  const enough = groups.filter(({ duration_ms: told }) => told.n >= 25)
  const [slowest] = enough.toSorted((one, other) => other.duration_ms.p95 - one.duration_ms.p95)
  assert.ok(slowest !== undefined)

  const table = page.getByRole('table', { name: 'Calls by model' })
  await table.getByRole('button', { name: 'Latency p95' }).click()
  const first = table.getByRole('row').nth(1)
  const last = await table.getByRole('row').last().innerText()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)
  await table.getByRole('button', { name: 'Latency p95' }).click()
  await table
    .getByRole('columnheader', { name: 'Latency p95' })
    .and(page.locator('[aria-sort="ascending"]'))
    .waitFor()
  assert.match(page.url(), /&order=latency_p95&rising=true$/)
  assert.notEqual(await first.getByRole('link').innerText(), slowest.key)
  // What is not known is last either way.
  assert.equal(await table.getByRole('row').last().innerText(), last)
  await table.getByRole('button', { name: 'Latency p95' }).click()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)

  // A line more, or less.
  const lines = page.locator('.series-plot .drawn-dots')
  const before = await lines.count()
  const box = first.getByRole('checkbox')
  const isDrawn = await box.isChecked()
  await box.setChecked(!isDrawn)
  assert.equal(await lines.count(), isDrawn ? before - 1 : before + 1)
  await box.setChecked(true)
  const plot = page.getByRole('slider')
  assert.match(
    (await plot.getAttribute('aria-valuetext')) ?? '',
    new RegExp(`^p50: .*${slowest.key} [\\d.]+\\s(ms|s)`),
  )
  await plot.focus()
  await page.keyboard.press('End')
  assert.match((await plot.getAttribute('aria-valuetext')) ?? '', /^p99: /)
  await page.getByRole('group', { name: 'Measure' }).getByText('Tokens/s').click()
  await page.getByRole('slider', { name: 'Tokens/s by percentile' }).waitFor()

  // A long name makes the page no wider.
  const isWide = `document.querySelector('.chart-legend .cut').textContent = 'x'.repeat(300);
    document.documentElement.scrollWidth > innerWidth`
  assert.equal(await page.evaluate(isWide), false)

  // Whoever gets the link sees the same.
  const drawn = await lines.count()
  await page.reload()
  await page.getByRole('slider', { name: 'Tokens/s by percentile' }).waitFor()
  assert.equal(await first.getByRole('link').innerText(), slowest.key)
  assert.equal(await lines.count(), drawn)

  await first.getByRole('link').click()
  await page.getByRole('region', { name: 'Calls' }).waitFor()
  assert.equal(new URL(page.url()).search, `?${day}&model=${slowest.key}`)
  await page.goBack()
  await page.getByRole('button', { name: 'Client' }).click()
  await page.getByRole('table', { name: 'Calls by client' }).getByRole('rowheader').first().waitFor()
  assert.equal(new URL(page.url()).search, `?${day}&by=client&measure=output_tokens_per_s&order=latency_p95`)
})

const hostile = '</script><img src=x onerror="document.title=1"><!--'

test('it is saved from the Overview, opens without a network, and tells what the dashboard tells', async () => {
  await using dir = await makeTempDir()
  const nowMs = Date.now()
  writePageData(dir.path, 'incident', nowMs)
  writeCalls(pageDatabase(dir.path), [
    { ...chatCall((nowMs - 60_000) * idsPerMs), model: hostile, client: hostile, durationMs: 900_000 },
  ])
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, {
    path: '/?range=6h&call_type=chat',
    expected: /net::ERR_/,
  })
  const { page } = opened
  await untilReady(page)
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Report' }).click()
  const download = await downloading
  assert.match(download.suggestedFilename(), /^tokenweir-report-[\d-]+-to-[\d-]+\.html$/)

  const path = new URL(page.url())
  const from = new Date(nowMs - 6 * 3_600_000).toISOString()
  const query = path.search.replace('?range=6h&', `?from=${from}&`)
  const answer = await dashboard.ask('GET', `/api/report${query}`)
  const html = await answer.text()
  assert.ok(!html.includes(hostile) && html.length < 1_000_000, `${html.length} characters`)
  const file = dir.file('report.html')
  writeFileSync(file, html)
  const { totals } = (await (await dashboard.ask('GET', `/api/overview${query}`)).json()) as Overview

  const alone = await page.context().newPage()
  const asked: string[] = []
  const told: string[] = []
  alone.on('request', (request) => asked.push(request.url()))
  alone.on('console', (message) => told.push(message.text()))
  alone.on('pageerror', (error) => told.push(error.message))
  await alone.context().setOffline(true)
  await alone.goto(pathToFileURL(file).href)
  await alone.getByText('Calls: Type Chat', { exact: true }).waitFor()
  const shown = async (words: string): Promise<string> => {
    const card = alone.getByRole('list', { name: 'Figures' }).getByRole('listitem').filter({ hasText: words })
    return (await card.first().locator('.figure-value').innerText()).replaceAll(/\s/g, '')
  }
  assert.equal(await shown('Requests'), totals.calls.toLocaleString('en'))
  await alone.getByRole('table', { name: 'Calls by model' }).getByText(hostile).first().waitFor()
  await alone.getByRole('slider', { name: 'Latency', exact: true }).focus()
  await alone.keyboard.press('End')
  assert.ok(await alone.getByRole('slider', { name: 'Latency', exact: true }).getAttribute('aria-valuetext'))
  await alone.getByRole('button', { name: 'Failed', exact: true }).first().click()
  assert.equal(await alone.getByRole('link').count(), 0)
  await alone.setViewportSize({ width: 390, height: 800 })
  await untilStill(alone)
  assert.equal(await alone.evaluate('document.documentElement.scrollWidth'), 390)
  assert.equal(await alone.title(), 'tokenweir report')
  assert.deepEqual([asked, told], [[pathToFileURL(file).href], []])
})
