import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openDashboardPage, untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

/** Twelve hours before the data ends, in quarters of an hour. */
const toMs = Math.floor(Date.now() / 900_000) * 900_000
const range = `from=${new Date(toMs - 12 * 3_600_000).toISOString()}&to=${new Date(toMs).toISOString()}`
const buckets = 48

const dashboard = await shareDashboard((folder) => writePageData(folder, 'day', toMs + 60_000))

const chart = (page: Page, title: string): Locator => page.getByRole('slider', { name: title, exact: true })

/** Where a bucket of a chart is on the screen. */
async function placeOf(
  surface: Locator,
  bucket: number,
): Promise<{ readonly x: number; readonly y: number }> {
  await surface.scrollIntoViewIfNeeded()
  const box = await surface.boundingBox()
  assert.ok(box !== null)
  return { x: box.x + ((bucket + 0.5) / buckets) * box.width, y: box.y + box.height / 2 }
}

async function open(path: string): ReturnType<typeof openDashboardPage> {
  const opened = await openDashboardPage(dashboard, { path })
  await untilReady(opened.page)
  return opened
}

test('dragging over buckets, and selecting them by keyboard, show the same span; a double click and Back lead out', async () => {
  await using opened = await open(`/?${range}`)
  const { page } = opened
  const start = page.url()
  const isStart = (url: URL): boolean =>
    ['from', 'to'].every(
      (name) =>
        Date.parse(url.searchParams.get(name) ?? '') ===
        Date.parse(new URL(start).searchParams.get(name) ?? ''),
    )
  const surface = chart(page, 'Requests')
  const [from, to] = [await placeOf(surface, 10), await placeOf(surface, 13)]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL((url) => url.href !== start)
  const zoomed = page.url()
  const query = new URL(zoomed).searchParams
  assert.equal(Date.parse(query.get('from') ?? ''), toMs - (buckets - 10) * 900_000)
  assert.equal(Date.parse(query.get('to') ?? ''), toMs - (buckets - 14) * 900_000)
  await untilReady(page)
  // However long it takes from one click to the other: no timer runs meanwhile.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 30_000)
  await chart(page, 'Latency').dblclick({ position: { x: 60, y: 60 } })
  await page.waitForURL(isStart)
  await page.clock.resume()

  await untilReady(page)
  await surface.focus()
  await page.keyboard.press('Home')
  for (let step = 0; step < 10; step++) await page.keyboard.press('ArrowRight')
  for (let step = 0; step < 3; step++) await page.keyboard.press('Shift+ArrowRight')
  assert.match((await surface.getAttribute('aria-valuetext')) ?? '', /, selected\. Press Enter to zoom\.$/)
  await page.keyboard.press('Enter')
  await page.waitForURL(zoomed)
  await page.goBack()
  await page.waitForURL(isStart)
})

test('a double click leads back to the range that was zoomed from, also after a filter was set', async () => {
  await using opened = await open('/?range=7d')
  const { page } = opened
  const surface = chart(page, 'Requests')
  await surface.focus()
  await page.keyboard.press('End')
  // Twelve buckets of two hours hold the whole day, and so calls that failed.
  for (let step = 1; step < 12; step++) await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('Enter')
  await page.waitForURL(/from=/)
  await untilReady(page)
  await page.getByRole('button', { name: 'Errors only' }).click()
  await page.waitForURL(/errors_only/)
  await untilReady(page)
  await chart(page, 'Latency').dblclick({ position: { x: 60, y: 60 } })
  await page.waitForURL((url) => url.searchParams.get('range') === '7d')
  assert.equal(new URL(page.url()).searchParams.get('errors_only'), 'true')
})

test('while a span is dragged over it is told, and after letting go nothing of it is left', async () => {
  await using opened = await open(`/?${range}`)
  const { page } = opened
  const surface = chart(page, 'Requests')
  const tip = page.locator('.plot-tip')
  /** The calls that did not fail in the bucket that is pointed at. */
  const told = async (): Promise<number> =>
    Number(
      /Succeeded([\d,]+)/
        .exec(await tip.innerText().then((text) => text.replaceAll('\n', '')))?.[1]
        ?.replaceAll(',', ''),
    )
  let sum = 0
  for (let bucket = 10; bucket <= 13; bucket++) {
    const { x, y } = await placeOf(surface, bucket)
    await page.mouse.move(x, y)
    sum += await told()
  }
  const [from, to] = [await placeOf(surface, 10), await placeOf(surface, 13)]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y, { steps: 4 })
  assert.ok(sum > 0)
  assert.equal(await told(), sum)
  await page.mouse.up()
  await page.waitForURL((url) => url.search !== `?${range}`)
  await untilReady(page)
  assert.equal(await tip.count(), 0)
  assert.equal(await page.locator('.plot-pointed, .plot-selected').count(), 0)
  // From the next move on, the mark lies under the pointer.
  await page.mouse.move(to.x - 2, to.y)
  const mark = await page.locator('.card:has([aria-label="Requests"]) .plot-pointed').first().boundingBox()
  assert.ok(mark !== null && mark.x <= to.x && mark.x + mark.width >= to.x - 4, JSON.stringify(mark))
})

test('the tooltip of a small chart leaves its plot free', async () => {
  await using opened = await open(`/?${range}`)
  const { page } = opened
  await page.setViewportSize({ width: 900, height: 900 })
  const card = page.getByRole('region', { name: 'Requests', exact: true })
  const plot = card.locator('.plot-surface')
  await plot.scrollIntoViewIfNeeded()
  const box = await plot.boundingBox()
  assert.ok(box !== null)
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2)
  const tip = await card.locator('.plot-tip').boundingBox()
  assert.ok(tip !== null)
  assert.ok(tip.y >= box.y + box.height || tip.y + tip.height <= box.y, JSON.stringify({ tip, box }))
})

test('a chart that is read by keys keeps its place when it moves away under a mouse that lies still', async () => {
  await using opened = await open(`/?${range}`)
  const { page } = opened
  const surface = chart(page, 'Requests')
  const { x, y } = await placeOf(surface, 20)
  await page.mouse.move(x, y)
  await surface.focus()
  await page.keyboard.press('Home')
  await surface.evaluate((element) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    element.addEventListener('pointerleave', resolve, { once: true })
    element.ownerDocument.defaultView?.scrollBy(0, 300)
    return promise.then(() => null)
  })
  await page.keyboard.press('ArrowRight')
  assert.equal(await surface.getAttribute('aria-valuenow'), '1')
})

test('a click on a bucket, Enter, and its row in the table lead to the same calls', async () => {
  const ways: readonly ((page: Page) => Promise<void>)[] = [
    async (page) => {
      const { x, y } = await placeOf(chart(page, 'Latency'), 20)
      await page.mouse.click(x, y)
    },
    async (page) => {
      await chart(page, 'Latency').focus()
      await page.keyboard.press('Home')
      for (let step = 0; step < 20; step++) await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
    },
    async (page) => {
      const card = page.getByRole('region', { name: 'Latency', exact: true })
      await card.getByRole('button', { name: 'Table' }).click()
      await card
        .locator('tbody tr')
        .nth(buckets - 1 - 20)
        .getByRole('link')
        .click()
    },
  ]
  const reached: string[] = []
  for (const way of ways) {
    await using opened = await open(`/?${range}`)
    await way(opened.page)
    await opened.page.waitForURL(/\/calls\?/)
    reached.push(opened.page.url())
  }
  const [one = '', ...others] = reached
  assert.deepEqual(others, [one, one])
  const query = new URL(one).searchParams
  assert.equal(Date.parse(query.get('from') ?? ''), toMs - (buckets - 20) * 900_000)
  assert.deepEqual(
    [query.get('outcome'), query.get('call_type'), query.get('sort')],
    ['ok', 'chat', 'duration'],
  )
})

test('what is pointed at in one chart is marked in all of them, and told in one', async () => {
  await using opened = await open(`/?${range}`)
  const { page } = opened
  const { x, y } = await placeOf(chart(page, 'Latency'), 30)
  await page.mouse.move(x, y)
  await page.locator('.plot-tip').waitFor()
  const surfaces = await page.locator('.plot-surface').count()
  assert.equal(await page.locator('.plot-pointed').count(), surfaces)
  assert.equal(await page.locator('.plot-tip').count(), 1)
  const places = await page
    .locator('.plot-pointed')
    .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('style')))
  assert.equal(new Set(places).size, 1)
  await page.mouse.move(2, 2)
  await page.locator('.plot-tip').waitFor({ state: 'detached' })
  await page.locator('.plot-pointed').waitFor({ state: 'detached' })
})

test('a cell of the distribution leads to the calls that took so long, by a click and by keyboard', async () => {
  const reached: string[] = []
  for (const isKeyed of [false, true]) {
    await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
    const { page } = opened
    // Seven bins in each bucket, so that it is known where a cell lies.
    await page.route(/\/api\/overview/, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as Record<string, unknown>
      const counts = Array.from({ length: buckets }, () => [0, 0, 1, 2, 3, 0, 0])
      const limits_ms = [200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000]
      await route.fulfill({
        response,
        json: { ...answer, heat: { limits_ms, counts } },
      })
    })
    await page.goto(`${dashboard.origin}/?${range}`)
    await untilReady(page)
    const surface = chart(page, 'Latency distribution')
    if (isKeyed) {
      await surface.focus()
      await page.keyboard.press('End')
      for (let level = 0; level < 4; level++) await page.keyboard.press('ArrowUp')
      assert.match((await surface.getAttribute('aria-valuetext')) ?? '', /: 2 s to 5 s: 2 calls$/)
      await page.keyboard.press('Enter')
    } else {
      const { x, y } = await placeOf(surface, buckets - 1)
      await page.mouse.click(x, y)
    }
    await page.waitForURL(/\/calls\?/)
    reached.push(page.url())
  }
  const [clicked = '', keyed] = reached
  assert.equal(keyed, clicked)
  const query = new URL(clicked).searchParams
  assert.deepEqual([query.get('min_ms'), query.get('max_ms'), query.get('outcome')], ['2000', '5000', 'ok'])
  assert.equal(Date.parse(query.get('to') ?? ''), toMs)
})

test('a note is marked in the charts, told where one points, and gone once it is deleted', async () => {
  await using opened = await openDashboardPage(dashboard, { path: '/?range=1h' })
  const { page } = opened
  await untilReady(page)
  await page.getByRole('button', { name: 'Notes' }).click()
  const panel = page.getByRole('group', { name: 'Notes' })
  const words = 'switched to a smaller model'
  await panel.getByLabel('What happened').fill(words)
  await page.keyboard.press('Enter')
  await panel.getByRole('list').getByText(words).waitFor()
  await page.keyboard.press('Escape')
  /** What the chart says of its last five minutes: others may have begun since. */
  const latest = async (): Promise<string> => {
    const said: string[] = []
    await chart(page, 'Latency').focus()
    for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']) {
      await page.keyboard.press(key)
      said.push((await chart(page, 'Latency').getAttribute('aria-valuetext')) ?? '')
    }
    return said.join()
  }
  const untilSaid = async (isSaid: boolean): Promise<void> => {
    const deadline = performance.now() + 60_000
    while ((await latest()).includes(words) !== isSaid) {
      assert.ok(performance.now() < deadline, await latest())
    }
  }
  await untilSaid(true)
  // Its label has room for a few words, and tells all of them to who points at it.
  const label = page.getByRole('region', { name: 'Latency', exact: true }).locator('.plot-flag').last()
  await label.hover()
  await label.getByText(words).waitFor()

  await page.getByRole('button', { name: 'Notes' }).click()
  await panel.getByRole('button', { name: `Delete note ${words}` }).click()
  await panel.getByRole('list').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await untilSaid(false)
})
