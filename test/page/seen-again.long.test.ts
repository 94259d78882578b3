/** What is recorded while a page is hidden is there, or counted, once the page is seen again. */
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openEvents, untilCallsAreTold } from '../dashboard/event-reader.ts'
import { openDashboardPage, setHidden, untilReady, untilTrue } from './dashboard-page.ts'
import { type SampleRun, writeRuns } from './session-data.ts'
import { shareDashboard } from './shared-dashboard.ts'

const run: SampleRun = { session: 'run', calls: 2, agoMs: 600_000 }
const untilCounted = (page: Page): Promise<void> =>
  page.getByRole('button', { name: '2 new calls', exact: true }).waitFor()

/** A view, the session that goes on while the view is hidden, and what is seen of its two calls. */
const views: readonly (readonly [path: string, session: string, isThere: (page: Page) => Promise<void>])[] = [
  ['/sessions', 'another', (page) => page.getByRole('row', { name: /^another / }).waitFor()],
  [
    '/sessions?session=run',
    'run',
    async (page) => {
      await untilTrue(page, 'document.querySelectorAll(".timeline-bar").length === 4')
      await untilTrue(page, '/Calls\\s+4/.test(document.querySelector(".session-facts").innerText)')
    },
  ],
  ['/calls', 'run', untilCounted],
  ['/calls?sort=duration', 'run', untilCounted],
]

test('what was recorded while a page was hidden is there, or counted, when it is seen again', async () => {
  const dashboard = await shareDashboard((folder) => writeRuns(folder, [run]))
  const write = (more: Partial<SampleRun>): void => writeRuns(dashboard.directory, [{ ...run, ...more }])
  // Another reader of the same events: what it was told of is not told to the page later.
  using reader = await openEvents(Number(new URL(dashboard.origin).port), 'calls')
  await untilCallsAreTold(reader, () => write({ session: 'early' }))
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  for (const [path, session, isThere] of views) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
    const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/events'))
    await page.evaluate(setHidden(true))
    await closed
    const tags = `view:${views.findIndex(([one]) => one === path)}`
    write({ session, tags, agoMs: 60_000 })
    const isTold = (): boolean => JSON.stringify(reader.events).includes(tags)
    await reader.until(() => isTold() || undefined, 'the calls of the hidden page')
    await page.evaluate(setHidden(false))
    await isThere(page)
  }
})
