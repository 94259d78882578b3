import { exitCode } from '../exit-code.ts'
import { systemClock } from '../../call/clock.ts'
import type { StartAnswer } from '../../api/process-status.ts'
import { type DashboardValues, upOptionTable } from '../../options/dashboard-options.ts'
import type { Options } from '../../options/option-spec.ts'
import { ProcessError } from '../../supervisor/process-error.ts'
import { upLines } from '../terminal/start-lines.ts'
import { reportPortError } from './dashboard-port.ts'
import type { CommandRun, Environment } from '../parse-options.ts'
import { openDashboard, type RunningDashboard } from '../running-dashboard.ts'
import { reachableOrigin } from '../terminal/reachable-origin.ts'
import { StatusDisplay } from '../terminal/status-display.ts'
import { thisTerminal } from '../terminal/terminal.ts'
import { onStopSignal } from '../stop-signal.ts'
import { WarningLines } from '../terminal/warning-lines.ts'

export const example = 'tokenweir up --upstream http://localhost:11434'
export const use = 'serves'
export const table = upOptionTable

const refreshMs = 1000

/** The additions of `tokenweir demo`. */
export interface UpExtras {
  /** The first line. */
  readonly preface: string
  /** The last lines. `dashboard` is the dashboard's origin. */
  readonly hints: (dashboard: string) => readonly string[]
  /** Called when dashboard and gateway are up. */
  started(status: StartAnswer): void
  /** Called when both have ended, or did not start. */
  ended(): Promise<void>
}

/** `tokenweir up`: dashboard and gateway together in the foreground. */
export const run: CommandRun<typeof table> = (options, { env }) => runUp(options, env)

/** Starts both processes, shows their state, and stops both at a signal; sets the process's exit code. */
export async function runUp(
  options: Options<DashboardValues>,
  env: Environment,
  extras?: UpExtras,
): Promise<void> {
  const display = new StatusDisplay(thisTerminal())
  const simulated = extras !== undefined
  const over = new AbortController()
  const report = (line: string): void => display.print(line)
  const opening = openDashboard(options, env, { simulated, report })
  onStopSignal(
    async () => {
      over.abort()
      const more = 'press again to exit now; the gateway finishes them'
      display.print(`stopping after calls in flight; ${more}`)
      const dashboard = await opening.catch(() => null)
      if (dashboard !== null) await stopBoth(dashboard, display)
      await extras?.ended()
      process.exit(process.exitCode ?? 0)
    },
    async () => (await opening).gateway.beginStopOwn(),
  )
  const dashboard = await opening.catch(async (error: unknown) => {
    if (over.signal.aborted) return null
    await extras?.ended()
    return await reportPortError(error, options, '--dashboard-port', simulated)
  })
  if (dashboard === null || over.signal.aborted) return

  const status = await dashboard.gateway.start().catch(async (error: unknown) => {
    if (over.signal.aborted) return null
    if (!(error instanceof ProcessError)) throw error
    display.close()
    reportError(error)
    process.exitCode = error.code === 'port_in_use' ? exitCode.portInUse : exitCode.fault
    await dashboard.close()
    await extras?.ended()
    return null
  })
  if (status === null || over.signal.aborted) return
  const { upstream_key: upstreamKey, needs_restart: needsRestart } = await dashboard.gateway.config()
  if (extras !== undefined) display.print(extras.preface)
  for (const line of upLines(options, dashboard, status, upstreamKey === 'lent')) display.print(line)
  const origin = reachableOrigin(options.dashboardHost, dashboard.port)
  for (const line of extras?.hints(origin) ?? []) display.print(line)
  if (status.already_running) {
    const pid = status.pid ?? 'unknown'
    display.print(`  using the gateway that was already running (process ${pid})`)
    const names = needsRestart.join(', ')
    if (names !== '') {
      display.print(`  it runs with other values of ${names}: restart it in the dashboard to apply these`)
    }
  }
  extras?.started(status)
  const warnings = new WarningLines()
  while (!over.signal.aborted) {
    const now = await dashboard.gateway.status()
    display.show(now)
    for (const line of warnings.next(now.health?.warnings ?? [])) display.print(line)
    await systemClock.delay(refreshMs, over.signal).catch(() => undefined)
  }
}

async function stopBoth(dashboard: RunningDashboard, display: StatusDisplay): Promise<void> {
  try {
    dashboard.gateway.abortStart()
    if (!(await dashboard.gateway.stopOwn())) await reportRunningGateway(dashboard, display)
  } catch (error) {
    // The gateway may have been stopped on the page.
    if (!(error instanceof ProcessError)) throw error
    if (error.code !== 'not_running') {
      reportError(error)
      process.exitCode = exitCode.fault
    }
  }
  display.close()
  await dashboard.close()
}

/** Prints that a gateway found running stays, because another program started it. */
async function reportRunningGateway({ gateway }: RunningDashboard, display: StatusDisplay): Promise<void> {
  const { running, pid } = await gateway.status()
  if (!running || pid === null) return
  display.print(
    `the gateway (process ${pid}) was already running and keeps running: stop it with kill ${pid}`,
  )
}

function reportError({ message, log }: ProcessError): void {
  console.error(`tokenweir: ${message}`)
  for (const line of log) console.error(`  | ${line}`)
}
