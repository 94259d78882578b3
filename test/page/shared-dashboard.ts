import { after } from 'node:test'
import { type TestBrowser, startBrowser } from '../support/browser.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** A dashboard and a browser that all tests of a file look at it with. */
export interface SharedDashboard {
  readonly dashboard: DashboardProcess
  readonly browser: TestBrowser
}

/**
 * Starts a dashboard over what `write` puts into its folder; it ends after the file's last test.
 * `const { dashboard, browser } = await shareDashboard((folder) => writePageData(folder, 'day'))`
 */
export async function shareDashboard(write: (folder: string) => void): Promise<SharedDashboard> {
  await using started = new AsyncDisposableStack()
  const { path } = started.use(await makeTempDir())
  write(path)
  const dashboard = started.use(await startDashboardProcess({ directory: path }))
  const browser = started.use(await startBrowser())
  const shared = started.move()
  after(() => shared.disposeAsync())
  return { dashboard, browser }
}
