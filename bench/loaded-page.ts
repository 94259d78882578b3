import type { BrowserContext, Page } from '../test/support/browser.ts'
import { untilTrue } from '../test/page/dashboard-page.ts'
import { type TestBrowser, startBrowser } from '../test/support/browser.ts'
import { startDashboardProcess } from '../test/support/dashboard-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { copyDatabase } from './copied-database.ts'
import { type BenchResult, median } from './summary.ts'

const leastRounds = 7
/** The first load warms the dashboard's process, the browser's and the file caches. */
const warmRounds = 2
const hoverMoves = 120

interface Measure {
  readonly what: string
  readonly unit: string
  readonly goal: number | null
  readonly values: readonly number[]
}

/**
 * Written into each page before its own script: notes when the view was there and painted, and tasks that held the
 * page up. `ready` is when charts are drawn and rows stand below them.
 */
const watchProgram = `
  globalThis.benchTasks = []
  new PerformanceObserver((list) => benchTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true })
  const isThere = () => document.querySelector('.skeleton') === null && document.querySelector('.is-stale') === null
    && document.querySelector('main :is(.calls-card, .calls-table tbody tr)') !== null
  globalThis.benchWhenThere = () => new Promise((resolve) => {
    const look = () => isThere()
      ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
      : requestAnimationFrame(look)
    look()
  })
  globalThis.benchReady = benchWhenThere()
`

/**
 * P10: the page on a large database, in a browser on the same machine: how soon it is there, how soon another choice is
 * answered, what it loads and holds.
 */
export async function benchLoadedPage(options: BenchOptions): Promise<BenchResult> {
  if (options.db === undefined) throw new Error('page needs --db: a database of bench/generate-calls.ts')
  await using folder = await makeTempDir()
  await copyDatabase(options.db, folder.file('telemetry.db'))
  await using dashboard = await startDashboardProcess({ args: ['--db', folder.file('telemetry.db')] })
  await using browser = await startBrowser()
  const rounds = Math.max(leastRounds, options.rounds)
  const measures: readonly Measure[] = [
    ...(await loads(browser, `${dashboard.origin}/?range=24h`, 'Overview, 24 h', rounds)),
    ...(await loads(browser, `${dashboard.origin}/?range=30d`, 'Overview, 30 d', rounds)).slice(0, 1),
    ...(await loads(browser, `${dashboard.origin}/calls?range=24h`, 'Calls, 24 h', rounds)).slice(0, 1),
    ...(await choices(browser, dashboard.origin, rounds)),
    await hovers(browser, dashboard.origin, rounds),
  ]
  return {
    name: 'loaded-page',
    title: 'P10: the page, each load with an empty cache, lowest, median and highest',
    table: [
      ['', 'lowest', 'median', 'highest', 'goal'],
      ...measures.map(({ what, unit, goal, values }) => [
        what,
        shown(Math.min(...values)),
        `${shown(median(values))} ${unit}`,
        `${shown(Math.max(...values))} ${unit}`,
        goal === null ? '' : `${goal} ${unit}`,
      ]),
    ],
    goals: measures.flatMap(({ what, values, goal, unit }) =>
      goal === null ? [] : [{ what, value: median(values), atMost: goal, unit }],
    ),
    notes: [],
    data: { measures },
  }
}

/** One fresh context a round: nothing is in its cache. */
async function loads(
  browser: TestBrowser,
  url: string,
  what: string,
  rounds: number,
): Promise<readonly Measure[]> {
  const readyMs: number[] = []
  const kB: number[] = []
  const requests: number[] = []
  const nodes: number[] = []
  const heapMB: number[] = []
  for (let round = -warmRounds; round < rounds; round++) {
    await using context = await watchedContext(browser)
    const page = await context.newPage()
    await page.goto(url)
    const ready = Number(await page.evaluate('benchReady'))
    if (round < 0) continue
    readyMs.push(ready)
    const sizes = await page.evaluate<readonly number[]>(
      'performance.getEntries().filter(({ transferSize }) => transferSize > 0).map(({ transferSize }) => transferSize)',
    )
    kB.push(sizes.reduce((sum, size) => sum + size, 0) / 1000)
    // The event stream has no end, and so no size yet.
    requests.push(sizes.length + 1)
    nodes.push(Number(await page.evaluate('document.querySelectorAll("*").length')))
    const devtools = await context.newCDPSession(page)
    await devtools.send('HeapProfiler.collectGarbage')
    heapMB.push((await devtools.send('Runtime.getHeapUsage')).usedSize / 1e6)
  }
  return [
    { what: `${what}: charts and rows painted`, unit: 'ms', goal: 600, values: readyMs },
    { what: 'first load, as sent', unit: 'kB', goal: 90, values: kB },
    { what: 'requests until then', unit: '', goal: 7, values: requests },
    { what: 'elements', unit: '', goal: 1500, values: nodes },
    { what: 'script heap', unit: 'MB', goal: 20, values: heapMB },
  ]
}

/** From the press to the paint of what it asked for. Each round asks for what no round before it has asked for. */
async function choices(browser: TestBrowser, origin: string, rounds: number): Promise<readonly Measure[]> {
  await using context = await watchedContext(browser)
  const page = await context.newPage()
  const asked = [
    ['Errors only, 24 h', '?range=24h', 'Errors only'],
    ['24 h to 7 d', '?range=24h', '7d'],
    ['24 h to 30 d', '?range=24h', '30d'],
  ] as const
  const measures: Measure[] = []
  for (const [what, query, button] of asked) {
    const values: number[] = []
    for (let round = 0; round < rounds; round++) {
      await page.goto(`${origin}/${query}`)
      await page.evaluate('benchReady')
      // Equal questions within a second share an answer, and would measure no wait.
      await page.waitForTimeout(1100)
      const box = await page.getByRole('button', { name: button, exact: true }).boundingBox()
      if (box === null) throw new Error(`no button ${button}`)
      await page.evaluate(
        'addEventListener("pointerdown", () => { globalThis.benchPressed = performance.now() }, { once: true, capture: true })',
      )
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      await untilTrue(page, 'globalThis.benchPressed !== undefined')
      values.push(Number(await page.evaluate('benchWhenThere().then((there) => there - benchPressed)')))
    }
    measures.push({ what, unit: 'ms', goal: 300, values })
  }
  return measures
}

/** The longest task while the pointer goes over a chart, and all charts follow it. */
async function hovers(browser: TestBrowser, origin: string, rounds: number): Promise<Measure> {
  await using context = await watchedContext(browser)
  const page = await context.newPage()
  await page.goto(`${origin}/?range=24h`)
  await page.evaluate('benchReady')
  const values: number[] = []
  for (let round = 0; round < rounds; round++) values.push(await hover(page))
  return { what: 'longest task while hovering (0: none over 50 ms)', unit: 'ms', goal: 50, values }
}

async function hover(page: Page): Promise<number> {
  const box = await page.locator('.plot-surface').first().boundingBox()
  if (box === null) throw new Error('no chart')
  await page.evaluate('benchTasks.length = 0')
  for (let move = 0; move < hoverMoves; move++) {
    await page.mouse.move(box.x + (box.width * move) / hoverMoves, box.y + box.height / 2)
  }
  await page.mouse.move(0, 0)
  return Number(await page.evaluate('Math.max(0, ...benchTasks)'))
}

async function watchedContext(browser: TestBrowser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript(watchProgram)
  return context
}

function shown(value: number): string {
  return value < 100 ? String(Math.round(value * 10) / 10) : value.toFixed(0)
}
