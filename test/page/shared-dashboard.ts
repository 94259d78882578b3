import { after } from 'node:test'
import { type TestBrowser, startBrowser } from '../support/browser.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type PageState, writePageData } from './page-data.ts'

/** What the tests of a file share ends after the last of them. */
const untilTheEnd = new AsyncDisposableStack()
after(() => untilTheEnd.disposeAsync())

/** A dashboard and a browser that all tests of a file look at it with. */
export interface SharedDashboard {
  readonly dashboard: DashboardProcess
  readonly browser: TestBrowser
}

/**
 * Starts a dashboard over what `write` puts into its folder; it ends after the file's last test.
 * `const { dashboard, browser } = await shareDashboard((folder) => writePageData(folder, 'day'))`
 */
export async function shareDashboard(
  write: (folder: string) => unknown,
  args: readonly string[] = [],
): Promise<SharedDashboard> {
  await using started = new AsyncDisposableStack()
  const { path } = started.use(await makeTempDir())
  write(path)
  const dashboard = started.use(await startDashboardProcess({ directory: path, args }))
  const browser = started.use(await startBrowser())
  untilTheEnd.use(started.move())
  return { dashboard, browser }
}

const lookedAt = new Map<PageState | 'none', Promise<SharedDashboard>>()

/** The dashboard over these calls, or none, that the tests of a file only look at. */
export async function dashboardOver(state: PageState | 'none'): Promise<DashboardProcess> {
  const started =
    lookedAt.get(state) ?? shareDashboard((folder) => state !== 'none' && writePageData(folder, state))
  lookedAt.set(state, started)
  return (await started).dashboard
}
