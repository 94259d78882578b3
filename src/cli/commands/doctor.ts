import { dirname, join, resolve } from 'node:path'
import { controlFolder } from '../../control/control-folder.ts'
import { messageOf } from '../../lib/errors.ts'
import { unreadable } from '../../lib/files/file-rights.ts'
import { upOptionTable } from '../../options/dashboard-options.ts'
import { valuesIn } from '../../options/gateway-settings.ts'
import { GatewayConfig } from '../../supervisor/gateway-config.ts'
import { defaultLimits, type FolderTraces, GatewayFinder } from '../../supervisor/gateway-finder.ts'
import {
  checkDatabase,
  checkFolder,
  checkLocks,
  checkNode,
  checkPrices,
  unseenFolder,
} from '../doctor/check-files.ts'
import { checkDashboardPort, checkGatewayPort } from '../doctor/check-ports.ts'
import { checkShare } from '../doctor/check-share.ts'
import { checkUpstream } from '../doctor/check-upstream.ts'
import { type Finding, type FindingState, fault, ok, warning } from '../doctor/finding.ts'
import { exitCode } from '../exit-code.ts'
import { flag } from '../option-rows.ts'
import { version } from '../package-version.ts'
import type { CommandRun, Environment } from '../parse-options.ts'
import { counted } from '../../lib/number-format.ts'
import { paint, type Tone } from '../terminal/paint.ts'
import { optionTable } from '../../options/option-spec.ts'
import { upstreamsOf } from '../upstreams/upstreams-list.ts'

const ownOptions = optionTable({ json: flag('print the findings as one JSON object') })

export const example = 'tokenweir doctor'
export const use = 'none'
export const table = { ...upOptionTable, ...ownOptions }

const signs: Readonly<Record<FindingState, readonly [sign: string, tone: Tone]>> = {
  ok: ['✓', 'good'],
  warning: ['!', 'left'],
  fault: ['✗', 'failed'],
}

/**
 * `tokenweir doctor`: checks everything that a gateway needs, whether one runs or not. Starts and changes
 * nothing. The exit code is 1 after a fault.
 */
export const run: CommandRun<typeof table> = async (options, { env, terminal: { clock, print, color } }) => {
  const db = resolve(options.db)
  const folder = dirname(db)
  const control = controlFolder(folder)
  const key = env['UPSTREAM_API_KEY'] ?? ''
  const config = new GatewayConfig(
    options,
    join(control, 'gateway.json'),
    { port: options.dashboardPort },
    key !== '',
  )
  const traces = await new GatewayFinder(control, defaultLimits).find()
  const running = typeof traces.control === 'object' ? traces.control : null
  let values = { ...options }
  let settings: Finding | null = null
  try {
    values = { ...values, ...config.resolve() }
  } catch (error) {
    settings = fault('settings', messageOf(error), 'fix it, or move it away')
  }
  // The check uses the running gateway's values, not those of the next start.
  if (running !== null)
    values = { ...values, ...valuesIn(running.options), port: running.port, host: running.host }
  const target = { url: values.upstream, key: config.trusts(values.upstream) ? key : '' }
  const unseen = unreadable(folder)
  const findings = [
    checkNode(),
    ...(settings === null || unseen !== null ? [] : [settings]),
    ...gatewayFindings(traces, join(control, 'proxy.log')),
    await checkGatewayPort(values.host, values.port, running),
    await checkDashboardPort(options.dashboardHost, options.dashboardPort, folder),
    ...(unseen === null
      ? [
          ...checkFolder(folder),
          checkLocks(db, running !== null),
          checkDatabase(db),
          checkPrices(db, clock.wallTime()),
        ]
      : [unseenFolder(unseen)]),
    ...(await checkUpstream({ ...target, connectTimeoutMs: values.connectTimeoutMs }, env)),
    ...(unseen === null ? await furtherUpstreams(options, env) : []),
    ...(await checkShare(values, env)),
  ]
  const isWell = findings.every(({ state }) => state !== 'fault')
  if (options.json) print(`${JSON.stringify({ ok: isWell, checks: findings })}\n`)
  else for (const finding of findings) print(`${lineOf(finding, color)}\n`)
  return isWell ? 0 : exitCode.fault
}

function lineOf({ check, state, message, remedy }: Finding, color: boolean): string {
  const [sign, tone] = signs[state]
  const text = remedy === null ? message : `${message.replace(/\.$/, '')} → ${remedy}`
  return `${paint(tone, sign, color)} ${check.padEnd(9)}  ${text}`
}

/** Checks that the file of further upstreams can be read, if there are any. */
async function furtherUpstreams(
  options: Parameters<typeof upstreamsOf>[0],
  env: Environment,
): Promise<readonly Finding[]> {
  const { upstreams, problem } = await upstreamsOf(options, env).report()
  if (problem !== null) return [fault('upstreams', problem, 'fix it; the last valid upstreams stay in force')]
  const further = upstreams.length - 1
  return further === 0
    ? []
    : [ok('upstreams', `${counted(further, 'more upstream')}: check them with tokenweir upstreams test`)]
}

/** The findings for the folder's gateway: its state and its own warnings. */
function gatewayFindings({ control, problem, record, recordedRuns }: FolderTraces, log: string): Finding[] {
  const check = 'gateway'
  if (problem !== null) return [fault(check, problem, 'run this as the user who runs the gateway')]
  if (control === 'noReply' || (control === 'notRunning' && recordedRuns)) {
    const owner = record === null ? 'the gateway of this folder' : `process ${record.pid}`
    return [fault(check, `${owner} is not responding`, `end it if this persists; its log is ${log}`)]
  }
  if (control === 'notRunning') return [ok(check, 'not running in this folder')]
  const { identity, health } = control
  const runs = `process ${identity.pid} runs, version ${control.version}`
  const first =
    control.version === version
      ? ok(check, control.draining ? `${runs}, and is stopping` : runs)
      : warning(check, runs, `restart it to get version ${version}`)
  return [first, ...health.warnings.map(({ message }) => warning(check, message, `its log is ${log}`))]
}
