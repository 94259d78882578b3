import { dashboardOptionTable } from '../../options/dashboard-options.ts'
import { dashboardLines } from '../terminal/start-lines.ts'
import { reportPortError } from './dashboard-port.ts'
import { onStopSignal } from '../stop-signal.ts'
import type { CommandRun } from '../parse-options.ts'
import { openDashboard } from '../running-dashboard.ts'

export const example = 'tokenweir dashboard --port 9200'
export const use = 'serves'
export const table = dashboardOptionTable

/** `tokenweir dashboard`: runs until it is stopped. The gateway that it controls runs on. */
export const run: CommandRun<typeof table> = async (options, { env }) => {
  const report = (line: string): void => console.error(`tokenweir: ${line}`)
  const opening = openDashboard(options, env, { simulated: false, report })
  onStopSignal(async () => {
    const dashboard = await opening.catch(() => null)
    await dashboard?.close()
    process.exit(0)
  })
  const dashboard = await opening.catch((error: unknown) => reportPortError(error, options, '--port'))
  if (dashboard === null) return
  for (const line of dashboardLines(options, dashboard, await dashboard.gateway.status())) console.log(line)
}
