import type { ProcessStatus } from '../../api/process-status.ts'
import type { DashboardValues } from '../../options/dashboard-options.ts'
import { reachableOrigin } from './reachable-origin.ts'
import type { RunningDashboard } from '../running-dashboard.ts'
import { exposureLines } from './start-lines.ts'

type Dashboard = Pick<RunningDashboard, 'port' | 'signInPath'>

/** What `tokenweir dashboard` says when it is ready. */
export function dashboardLines(
  options: DashboardValues,
  dashboard: Dashboard,
  status: ProcessStatus,
): readonly string[] {
  return [
    `tokenweir dashboard on ${reachableOrigin(options.dashboardHost, dashboard.port)}`,
    ...signInLines(options, dashboard),
    status.running
      ? `  the gateway on port ${status.port} (process ${status.pid ?? 'unknown'}) goes on, whatever becomes of the dashboard`
      : '  no gateway runs yet: the page starts it, and so does POST /api/proxy/start',
  ]
}

/** What `tokenweir up` says when both are ready: where they are, the first call, who can reach them. */
export function upLines(
  options: DashboardValues,
  dashboard: Dashboard,
  status: ProcessStatus,
  lendsKey: boolean,
): readonly string[] {
  const gateway = reachableOrigin(status.host, status.port)
  const needsKey = !lendsKey && !status.simulated
  const lines = [
    `tokenweir is up: dashboard on ${reachableOrigin(options.dashboardHost, dashboard.port)}`,
    ...signInLines(options, dashboard),
    `  gateway  ${gateway}/v1, forwarding to ${status.upstream}`,
    `  try it:  curl ${gateway}/v1/models${needsKey ? ' -H "Authorization: Bearer $OPENAI_API_KEY"' : ''}`,
    '  Ctrl-C stops both',
  ]
  return [...lines, ...exposureLines('the gateway', { ...options, host: status.host }, lendsKey)]
}

/** What a second `tokenweir up` or `tokenweir dashboard` says of the one that holds its port. */
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
  return [`  sign in once with ${link} within 15 minutes, or with the admin token at any time`]
}
