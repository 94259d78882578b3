import type { ProcessStatus } from '../../src/api/process-status.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { type DashboardPage, type DashboardPageOptions, openDashboardPage } from './dashboard-page.ts'

/** The Gateway view in a browser, of a dashboard whose gateway runs. */
export interface OpenedGatewayView extends AsyncDisposable {
  readonly dashboard: DashboardProcess
  /** Of the gateway. */
  readonly port: ProcessStatus['port']
  readonly opened: DashboardPage
}

/** Starts a gateway before the upstream of this base URL, its dashboard, and a browser at the Gateway view, or another one. */
export async function openGatewayView(
  upstream: string,
  options: DashboardPageOptions = {},
): Promise<OpenedGatewayView> {
  await using started = new AsyncDisposableStack()
  const dashboard = started.use(await startDashboardProcess({ args: ['--upstream', upstream] }))
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  const opened = started.use(
    await openDashboardPage(dashboard, { path: '/gateway', bypassCSP: true, ...options }),
  )
  const owned = started.move()
  return { dashboard, port, opened, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
