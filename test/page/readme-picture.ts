/**
 * Takes the README's pictures, `docs/overview-light.png` and `docs/overview-dark.png`: the Overview over a day that
 * is made up, the same each time. `npm run picture`, or `node test/page/readme-picture.ts <folder>`.
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addPast, sumAll } from '../../bench/generate/add-past.ts'
import type { Incident } from '../../src/demo/past-failures.ts'
import { upstreams } from '../../bench/generate/busy-past.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { sampleHealth, sampleStatus } from '../support/sample-health.ts'
import { untilReady } from './dashboard-page.ts'
import { pageDatabase } from './page-data.ts'

const nowMs = Date.UTC(2026, 10, 19, 16, 24)
const dayMs = 86_400_000
/** Two days, so that there is a day before to compare with. */
const past = { calls: 42_000, days: 2, endMs: nowMs, seed: 57, incidents }
const mostBytes = 300_000

/** An upstream that fails for an hour, answers that take long before, and some minutes without a gateway. */
function incidents(endMinute: number): readonly Incident[] {
  const [failing, slow] = upstreams
  return [
    { kind: 'failing', of: failing, fromMinute: endMinute - 130, toMinute: endMinute - 70 },
    { kind: 'slow', of: slow, fromMinute: endMinute - 125, toMinute: endMinute - 95 },
    { kind: 'stopped', of: failing, fromMinute: endMinute - 700, toMinute: endMinute - 680 },
  ]
}

const status: ProcessStatus = {
  ...sampleStatus,
  pid: 4711,
  upstream: 'http://127.0.0.1:9/v1',
  instance: 'gw-1',
  started_at: new Date(nowMs - 40_800_000).toISOString(),
  uptime_s: 40_800,
  health: {
    ...sampleHealth,
    rate_limiter: {
      ...sampleHealth.rate_limiter,
      max_concurrent: 6,
      active: 4,
      total_admitted: 21_120,
      peak_active: 6,
    },
    token_budget: {
      daily_limit: 48_000_000,
      total_used: 17_400_000,
      remaining: 30_600_000,
      percentage_used: 36.25,
      estimated: 0,
      known: true,
    },
  },
  simulated: true,
}

async function takePictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await using dir = await makeTempDir()
  const database = openForWriting(pageDatabase(dir.path))
  database.exec('PRAGMA synchronous = OFF')
  addPast(database, past)
  sumAll(database, nowMs)
  database.close()
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using browser = await startBrowser()
  for (const colorScheme of ['light', 'dark'] as const) {
    await using context = await browser.newContext({
      colorScheme,
      viewport: { width: 1440, height: 1036 },
      deviceScaleFactor: 1.2,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    await page.clock.setFixedTime(nowMs)
    await page.route('**/api/events?*', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: gateway\ndata: ${JSON.stringify(status)}\n\n`,
      }),
    )
    // The dashboard's own clock goes on: the day of the pictures is asked for by its dates.
    await page.route('**/api/overview?*', (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set('from', new Date(nowMs - dayMs).toISOString())
      url.searchParams.set('to', new Date(nowMs).toISOString())
      return route.continue({ url: url.href })
    })
    await page.goto(`${dashboard.origin}/`)
    await untilReady(page)
    const path = join(folder, `overview-${colorScheme}.png`)
    await page.screenshot({ path })
    const { size } = statSync(path)
    console.log(`${path}: ${Math.round(size / 1000)} kB${size > mostBytes ? ', more than it may be' : ''}`)
    if (size > mostBytes) process.exitCode = 1
  }
}

await takePictures(process.argv[2] ?? fileURLToPath(new URL('../../docs/', import.meta.url)))
