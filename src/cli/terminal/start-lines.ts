import type { ProcessStatus, StartAnswer } from '../../api/process-status.ts'
import { isLoopbackBind } from '../../lib/http/request-source.ts'
import type { UpstreamProxy } from '../../gateway/upstream/upstream-proxy.ts'
import type { DashboardValues } from '../../options/dashboard-options.ts'
import type { GatewayOptions } from '../../options/gateway-options.ts'
import { typedCommand } from '../gateway-command.ts'
import type { RunningDashboard } from '../running-dashboard.ts'
import { reachableOrigin } from './reachable-origin.ts'

/** The output of a gateway that is ready: address, options, who can reach it, and a first call. */
export function startLines(
  options: GatewayOptions,
  port: number,
  hasGatewayKey: boolean,
  proxy: UpstreamProxy | null,
): string[] {
  const address = reachableOrigin(options.host, port)
  const lines = [
    `tokenweir gateway listening on ${address}, forwarding to ${options.upstream}`,
    `  ${options.maxConcurrent} concurrent calls; others queue`,
    `  try it:  curl ${address}/v1/models${hasGatewayKey ? '' : ' -H "Authorization: Bearer $OPENAI_API_KEY"'}`,
    `  see it:  ${typedCommand()} calls --recent 10`,
  ]
  if (proxy !== null) lines.push(`  calls go through the proxy ${proxy.origin} (${proxy.variable})`)
  if (options.rawLog)
    lines.push(`  payloads are captured in ${options.rawLogFile} (--raw-log), without credentials`)
  return [...lines, ...exposureLines('it', options, hasGatewayKey)]
}

/** A sentence on who else can use a gateway, and with which key. */
function exposureLines(
  name: string,
  { host, trustLoopback }: Pick<GatewayOptions, 'host' | 'trustLoopback'>,
  hasGatewayKey: boolean,
): readonly string[] {
  const lines: string[] = []
  if (!isLoopbackBind(host)) {
    lines.push(`  other machines can reach ${name}; use --host 127.0.0.1 to prevent this`)
  }
  if (hasGatewayKey) {
    const callers = trustLoopback ? 'calls of your own user on this machine' : 'calls with the admin token'
    lines.push(`  ${callers} without a key of their own use UPSTREAM_API_KEY`)
  }
  return lines
}

type Dashboard = Pick<RunningDashboard, 'port' | 'signInPath'>

/** The output of `tokenweir dashboard` when it is ready. */
export function dashboardLines(
  options: DashboardValues,
  dashboard: Dashboard,
  status: ProcessStatus,
): readonly string[] {
  return [
    `tokenweir dashboard on ${reachableOrigin(options.dashboardHost, dashboard.port)}`,
    ...signInLines(options, dashboard),
    status.running
      ? `  the gateway on port ${status.port} (process ${status.pid ?? 'unknown'}) keeps running when the dashboard stops`
      : '  no gateway is running: start it on the page, or with POST /api/proxy/start',
  ]
}

/** The output of `tokenweir up` when both are ready: their addresses, a first call, who can reach them. */
export function upLines(
  options: DashboardValues,
  dashboard: Dashboard,
  status: StartAnswer,
  hasGatewayKey: boolean,
): readonly string[] {
  const gateway = reachableOrigin(status.host, status.port)
  const needsKey = !hasGatewayKey && !status.simulated
  const lines = [
    `tokenweir is up: dashboard on ${reachableOrigin(options.dashboardHost, dashboard.port)}`,
    ...signInLines(options, dashboard),
    `  gateway  ${gateway}/v1, forwarding to ${status.upstream}`,
    `  try it:  curl ${gateway}/v1/models${needsKey ? ' -H "Authorization: Bearer $OPENAI_API_KEY"' : ''}`,
    `  Ctrl-C stops ${status.already_running ? 'the dashboard' : 'both'}`,
  ]
  return [...lines, ...exposureLines('the gateway', { ...options, host: status.host }, hasGatewayKey)]
}

/** The message of a second `tokenweir up` or `tokenweir dashboard` about the one that has its port. */
export function alreadyLines(dashboardOrigin: string, status: ProcessStatus | null): readonly string[] {
  const lines = [`tokenweir is already up: dashboard on ${dashboardOrigin}`]
  if (status === null) return lines
  const gateway = `  gateway  ${reachableOrigin(status.host, status.port)}/v1, forwarding to ${status.upstream}`
  const process = status.pid === null ? '' : `, process ${status.pid}`
  return [...lines, `${gateway} (${status.state}${process}${status.simulated ? ', a demo' : ''})`]
}

function signInLines(options: DashboardValues, { port, signInPath }: Dashboard): readonly string[] {
  if (signInPath === null) return []
  const link = reachableOrigin(options.dashboardHost, port) + signInPath
  return [`  sign in with ${link} within 15 minutes, or with the admin token at any time`]
}
