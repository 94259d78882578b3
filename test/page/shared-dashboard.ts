import { after } from 'node:test'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type PageState, writePageData } from './page-data.ts'

/** What the tests of a file share ends after the last of them. */
const untilTheEnd = new AsyncDisposableStack()
after(() => untilTheEnd.disposeAsync())

/**
 * Starts a dashboard over what `write` puts into its folder; it ends after the file's last test.
 * `const dashboard = await shareDashboard((folder) => writePageData(folder, 'day'))`
 */
export async function shareDashboard(
  write: (folder: string) => unknown,
  args: readonly string[] = [],
): Promise<DashboardProcess> {
  await using started = new AsyncDisposableStack()
  const { path } = started.use(await makeTempDir())
  write(path)
  const dashboard = started.use(await startDashboardProcess({ directory: path, args }))
  untilTheEnd.use(started.move())
  return dashboard
}

const lookedAt = new Map<PageState | 'none', Promise<DashboardProcess>>()

/** The dashboard over these calls, or none, that the tests of a file only look at. */
export function dashboardOver(state: PageState | 'none'): Promise<DashboardProcess> {
  const started =
    lookedAt.get(state) ?? shareDashboard((folder) => state !== 'none' && writePageData(folder, state))
  lookedAt.set(state, started)
  return started
}
