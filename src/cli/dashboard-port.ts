import { exitCode } from './exit-code.ts'
import type { ProcessStatus } from '../api/process-status.ts'
import type { DashboardValues } from '../options/dashboard-options.ts'
import { alreadyLines } from './dashboard-lines.ts'
import { reachableOrigin } from './reachable-origin.ts'

const probeLimitMs = 2000

/**
 * Says why the dashboard cannot listen, and answers the exit code: 0 where the port is held by a dashboard of
 * ours, because then what was asked for is there.
 */
export async function reportPortTrouble(
  error: unknown,
  options: DashboardValues,
  flag: string,
): Promise<number> {
  const { dashboardHost: host, dashboardPort: port } = options
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') {
    console.error(`tokenweir: cannot listen on ${host}:${port}:`, error)
    return exitCode.fault
  }
  const origin = reachableOrigin(host, port)
  const found = await askWhoIsThere(origin)
  if (found === null) {
    console.error(`tokenweir: port ${port} is in use; ${flag} chooses another, and 0 any free one`)
    return exitCode.portInUse
  }
  for (const line of alreadyLines(origin, found === 'tokenweir' ? null : found)) console.log(line)
  return 0
}

/** The status of a dashboard of ours; `tokenweir` where it wants a token first; `null` for anything else. */
async function askWhoIsThere(origin: string): Promise<ProcessStatus | 'tokenweir' | null> {
  try {
    const answer = await fetch(`${origin}/api/proxy/status`, {
      signal: AbortSignal.timeout(probeLimitMs),
      redirect: 'error',
    })
    const body: unknown = await answer.json()
    if (typeof body !== 'object' || body === null) return null
    if (answer.ok && 'state' in body && 'health_ok' in body && 'log_file' in body)
      return body as ProcessStatus
    return answer.status === 401 && JSON.stringify(body).includes('token_required') ? 'tokenweir' : null
  } catch {
    return null
  }
}
