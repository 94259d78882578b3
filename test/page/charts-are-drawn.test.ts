import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type TestBrowser, startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { untilReady } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

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

/** The same instant gives the same calls, and the same picture at any time of the day. */
const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const day = `from=${new Date(nowMs - 86_400_000).toISOString()}&to=${new Date(nowMs).toISOString()}`

/** So far may a pixel be from a colour, in each of its parts: lines are drawn with soft edges. */
const near = 24

let browser: TestBrowser
before(async () => {
  browser = await startBrowser()
})
after(() => browser[Symbol.asyncDispose]())

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
    await using dir = await makeTempDir()
    writePageData(dir.path, 'incident', nowMs)
    await using dashboard = await startDashboardProcess({ directory: dir.path })
    const context = await browser.newContext({
      colorScheme: theme === 'dark' ? 'dark' : 'light',
      viewport: { width: 1280, height: 1000 },
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    await page.goto(`${dashboard.origin}/?${day}`)
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
      await page.goto(`${dashboard.origin}/calls?${day}`)
      await untilReady(page)
      const strip = page.getByRole('slider', { name: 'Calls over time' })
      await isDrawn('calls', strip, colours.p50, 1000)
      await isDrawn('failed calls', strip, colours.bad, 100)
      // A time at the edge of the strip stays within it.
      await page.goto(`${dashboard.origin}/calls?from=2026-11-19T16:00:00Z&to=2026-11-19T16:00:20Z`)
      await untilReady(page)
      const isInside = `[...document.querySelectorAll('.volume .plot-time')].every((label) =>
        label.getBoundingClientRect().left >= document.querySelector('.volume').getBoundingClientRect().left)`
      assert.equal(await page.evaluate(isInside), true)
    })

    await t.test('spend', async () => {
      await page.goto(`${dashboard.origin}/costs?${day}`)
      await untilReady(page)
      await isDrawn('first model', plotsOf(page, 'Spend over time'), colours.kind1, 500)
    })
    await context.close()
  })
}
