import { dirname, resolve } from 'node:path'
import type { AlertsReport } from '../../api/alerts.ts'
import type { ProcessStatus } from '../../api/process-status.ts'
import type { ProxyConfig } from '../../api/proxy-config.ts'
import { isObject, readMessage } from '../../lib/message-shape.ts'
import type { DashboardValues } from '../../options/dashboard-options.ts'
import { allSettings } from '../../options/gateway-settings.ts'
import type { Options } from '../../options/option-spec.ts'
import { isMet } from '../../supervisor/gateway-config.ts'
import { alreadyLines } from '../terminal/start-lines.ts'
import { exitCode } from '../exit-code.ts'
import { listenProblem } from '../listen-problem.ts'
import { OptionError } from '../parse-options.ts'
import { reachableOrigin } from '../terminal/reachable-origin.ts'

/** The source, in `setBy`, of options that the demo sets. */
export const demoItself = 'the demo'
const probeLimitMs = 2000

/** Another tokenweir dashboard on the port. Both members are null if it demands a token. */
export interface OtherDashboard {
  readonly status: ProcessStatus | null
  readonly config: ProxyConfig | null
}

/**
 * Prints why the dashboard cannot listen, and sets the exit code. The code is 0 if another dashboard on the
 * port has all options of this start. Throws errors that are not about the port.
 */
export async function reportPortError(
  error: unknown,
  options: Options<DashboardValues>,
  flag: string,
  simulated = false,
): Promise<null> {
  if (error instanceof OptionError) throw error
  const { dashboardHost: host, dashboardPort: port } = options
  const problem = listenProblem(error, host, port, flag)
  const origin = reachableOrigin(host, port)
  const owner = problem.exitCode === exitCode.portInUse ? await findDashboard(origin) : null
  if (owner === null) {
    console.error(`tokenweir: ${problem.message}`)
    process.exitCode = problem.exitCode
    return null
  }
  for (const line of alreadyLines(origin, owner.status)) console.log(line)
  const isSameDemo = simulated && owner.status?.simulated === true
  const differences = isSameDemo
    ? []
    : [...differencesOf(owner, options), ...(await webhookDifference(origin, options))]
  if (differences.length === 0) return null
  for (const line of differences) console.error(line)
  const start = 'stop it and start it again'
  const second = 'run a second one in another folder, with other ports'
  console.error(`tokenweir: it was not changed. Change it on ${origin}/settings, or ${start}; ${second}`)
  process.exitCode = exitCode.fault
  return null
}

/** The differences between that dashboard and this start, one line each. */
function differencesOf({ status, config }: OtherDashboard, options: Options<DashboardValues>): string[] {
  const lines: string[] = []
  const folder = dirname(resolve(options.db))
  const otherFolder = status === null ? folder : dirname(status.health?.db ?? status.log_file)
  if (otherFolder !== folder) lines.push(`  its data are in ${otherFolder}, not in ${folder}`)
  for (const { key, name } of allSettings) {
    const setBy = options.setBy[key]
    // The demo's own values were not asked for by the user.
    if (setBy === null || setBy === demoItself) continue
    const current = config?.options.find((option) => option.name === name)
    const value = current?.running ?? current?.value
    if (isMet(name, options[key], value)) continue
    const valueText = value === undefined ? 'its options are unknown' : `it uses ${String(value)}`
    lines.push(`  ${setBy} ${String(options[key])} was given; ${valueText}`)
  }
  return lines
}

/** The line for another webhook, as far as hosts and formats tell: the rest of an address may be a secret. */
async function webhookDifference(
  origin: string,
  { alertWebhook, alertFormat, setBy }: Options<DashboardValues>,
): Promise<string[]> {
  if (alertWebhook === null || setBy.alertWebhook === null || setBy.alertWebhook === demoItself) return []
  const alerts = readMessage((await ask(`${origin}/api/alerts`)).body, isAlerts)
  const wanted = `${alertFormat} to ${new URL(alertWebhook).host}`
  const used = alerts?.receiver && `${alerts.receiver.format} to ${alerts.receiver.host}`
  if (used === wanted) return []
  const usedText = alerts === null ? 'its webhook is unknown' : `it sends ${used ?? 'no alerts'}`
  return [`  ${setBy.alertWebhook} was given (${wanted}); ${usedText}`]
}

function isAlerts(body: unknown): body is Pick<AlertsReport, 'receiver'> {
  return isObject(body) && 'receiver' in body
}

/** The tokenweir dashboard at an origin; `null` if something else answers, or nothing. */
export async function findDashboard(origin: string): Promise<OtherDashboard | null> {
  const answer = await ask(`${origin}/api/proxy/status`)
  if (answer.code === 401 && answer.body.includes('token_required')) return { status: null, config: null }
  const status = readMessage(answer.body, isStatus)
  if (status === null) return null
  const config = await ask(`${origin}/api/proxy/config`)
  return { status, config: readMessage(config.body, isConfig) }
}

/** Checks only enough members to recognize a dashboard's answer. */
function isStatus(body: unknown): body is ProcessStatus {
  return isObject(body) && 'state' in body && 'health_ok' in body && 'log_file' in body
}

function isConfig(body: unknown): body is ProxyConfig {
  return isObject(body) && 'options' in body
}

/** Status and body of an answer; status 0 and an empty body if no answer comes in time. */
async function ask(url: string): Promise<{ readonly code: number; readonly body: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(probeLimitMs), redirect: 'error' })
    return { code: answer.status, body: await answer.text() }
  } catch {
    return { code: 0, body: '' }
  }
}
