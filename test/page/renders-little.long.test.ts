import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { type TestBrowser, startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { sampleHealth } from '../support/sample-health.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { untilReady, untilTrue } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'
import { type CountedPage, buildCountedPage, takeRenders } from './render-count.ts'
import { writeRuns } from './session-data.ts'

/** In place of the dashboard's events: `tell('gateway', status)` is one. */
const events = `globalThis.EventSource = class extends EventTarget {
  constructor() {
    super()
    globalThis.tell = (type, data) => this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }))
    setTimeout(() => this.dispatchEvent(new Event('open')))
  }
  close() {}
}`

const status: ProcessStatus = {
  running: true,
  state: 'running',
  pid: 4711,
  port: 9090,
  host: '127.0.0.1',
  upstream: 'http://127.0.0.1:9/v1',
  instance: 'gw-1',
  started_at: new Date(0).toISOString(),
  uptime_s: 40_800,
  health_ok: true,
  health: sampleHealth,
  pid_file: 'data/.proxy.pid',
  log_file: 'data/proxy.log',
  message: null,
  simulated: false,
  crash: null,
  predecessors: [],
}

const { rate_limiter: limiter } = sampleHealth
const later: ProcessStatus = {
  ...status,
  uptime_s: 40_801,
  health: { ...sampleHealth, rate_limiter: { ...limiter, total_admitted: limiter.total_admitted + 1 } },
}
const busier: ProcessStatus = {
  ...later,
  health: { ...sampleHealth, rate_limiter: { ...limiter, active: limiter.active + 1 } },
}

let counted: CountedPage
let browser: TestBrowser
before(async () => {
  counted = await buildCountedPage()
  browser = await startBrowser()
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await counted[Symbol.asyncDispose]()
})

/** A view that nothing has changed for a moment, once it says what it says when it is there. */
async function openView(origin: string, path: string, isThere: string | RegExp): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } })
  const page = await context.newPage()
  await page.addInitScript(events)
  await counted.serveTo(page)
  await page.goto(origin + path)
  await page.getByText(isThere).first().waitFor()
  // The stream is opened when the browser says that it is this tab's turn.
  await untilTrue(page, `typeof tell === 'function'`)
  await tell(page, 'gateway', status)
  await untilReady(page)
  await takeRenders(page)
  return page
}

async function tell(page: Page, topic: string, data: unknown): Promise<void> {
  await page.evaluate(`tell(${JSON.stringify(topic)}, ${JSON.stringify(data)})`)
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
}

test('the Overview renders what has changed, and nothing else', async (t) => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'day')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  // It is asked for again by itself only after five minutes.
  const page = await openView(dashboard.origin, '/?range=7d', /^Updated /)

  await t.test('an event that changes nothing visible renders nothing', async () => {
    await tell(page, 'gateway', later)
    await tell(page, 'jobs', { compress: null, reprice: null })
    await tell(page, 'log', { lines: ['a line'], reset: false })
    await tell(page, 'calls', { calls: [{ id: 'a', started_at: status.started_at }], skipped: 0 })
    await tell(page, 'beat', { every_ms: 15_000 })
    assert.deepEqual(await takeRenders(page), {})
  })

  await t.test('one slot more in use renders the strip in the bar', async () => {
    await tell(page, 'gateway', busier)
    const names = Object.keys(await takeRenders(page)).toSorted()
    assert.deepEqual(names, [
      'AddressLink',
      'Alerts',
      'FullOrBrief',
      'Load',
      'Meter',
      'NowStrip',
      'SlotCells',
      'State',
      'StateMark',
    ])
  })

  await t.test('a mouse that moves over a chart renders the tip beside it', async () => {
    const box = await page.getByRole('slider', { name: 'Latency', exact: true }).boundingBox()
    assert.ok(box !== null)
    await page.mouse.move(box.x + 40, box.y + 40)
    await takeRenders(page)
    for (let step = 1; step <= 20; step += 1) await page.mouse.move(box.x + 40 + 8 * step, box.y + 40)
    const renders = await takeRenders(page)
    // The charts beside it mark the same instant with lines of their own, and are not rendered.
    assert.deepEqual(Object.keys(renders).toSorted(), ['Crosshair', 'PlotInteraction', 'Swatch'])
    assert.ok((renders['PlotInteraction'] ?? 0) <= 20, JSON.stringify(renders))
  })

  await t.test('a new answer renders each chart once', async () => {
    await page.mouse.move(0, 0)
    await takeRenders(page)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await untilTrue(page, "rendered.includes('OverviewBody')")
    await untilReady(page)
    const { OverviewBody, Plot, HeatMap, PanelPlot } = await takeRenders(page)
    assert.deepEqual(
      { OverviewBody, Plot, HeatMap, PanelPlot },
      { OverviewBody: 1, Plot: 9, HeatMap: 1, PanelPlot: 8 },
    )
  })
})

test('a session renders with its own calls, and with no others', async () => {
  await using dir = await makeTempDir()
  writeRuns(dir.path, [{ session: 'mine', calls: 20, agoMs: 9_000_000 }])
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  const page = await openView(dashboard.origin, '/sessions?session=mine', '1 h (shortened)')
  const answer = await dashboard.ask('GET', '/api/query?session=mine&limit=1')
  const { calls } = (await answer.json()) as { calls: object[] }
  const call = { ...calls[0], id: '7zzzzzzzzzz', session: 'other' }
  await tell(page, 'gateway', later)
  await tell(page, 'calls', { calls: [call], skipped: 0 })
  assert.deepEqual(await takeRenders(page), {})
  await tell(page, 'calls', { calls: [{ ...call, session: 'mine' }], skipped: 0 })
  await untilTrue(page, 'document.querySelectorAll(".timeline-bar").length === 21')
  assert.equal((await takeRenders(page))['Timeline'], 1)
})

test('of the sessions those are rendered in which something is new', async () => {
  await using dir = await makeTempDir()
  const runs = ['one', 'two', 'three'].map((session, at) => ({ session, calls: 2, agoMs: 9_000_000 - at }))
  writeRuns(dir.path, runs)
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  const page = await openView(dashboard.origin, '/sessions', '3 sessions')
  writeRuns(dir.path, [{ session: 'two', calls: 1, agoMs: 3000 }])
  await tell(page, 'calls', { calls: [{ id: '7zzzzzzzzzz', session: 'two' }], skipped: 0 })
  await page.getByRole('listitem').first().getByText('two', { exact: true }).waitFor()
  // It changes places with the first; the third is where and what it was.
  assert.equal((await takeRenders(page))['Row'], 2)
  const answered = page.waitForResponse(/api\/sessions/)
  await tell(page, 'calls', { calls: [{ id: '7zzzzzzzzzy', session: 'two' }], skipped: 0 })
  await answered
  await untilReady(page)
  assert.equal((await takeRenders(page))['Row'], undefined)
})
