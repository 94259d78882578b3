import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import type { ControlStatus } from '../../control/control-messages.ts'
import { orNull } from '../../lib/errors.ts'
import { askHealth } from '../../supervisor/gateway-port.ts'
import { type CommandError, exitCode } from '../exit-code.ts'
import { listenProblem } from '../listen-problem.ts'
import { findDashboard } from '../commands/dashboard-port.ts'
import { reachableOrigin } from '../terminal/reachable-origin.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

const probeLimitMs = 2000

/** The finding for the gateway's port: free, used by this folder's gateway (`running`), or used by another program. */
export async function checkGatewayPort(
  host: string,
  port: number,
  running: ControlStatus | null,
): Promise<Finding> {
  const check = 'port'
  const problem = await bindError(host, port, '--port')
  if (problem === null) {
    const message = `${port === 0 ? 'any free port' : `${port} on ${host}`} is free`
    if (running === null) return ok(check, message)
    return fault(check, `the gateway is running but not listening on ${port}`, 'restart it')
  }
  if (problem.exitCode !== exitCode.portInUse)
    return fault(check, problem.message, 'the gateway cannot start')
  const { report, instance } = await askHealth(host, port, probeLimitMs)
  if (running !== null && instance === running.instance) return ok(check, `${port} is the gateway's own`)
  const usedBy = report === null ? '' : ` used by a gateway, process ${report.pid}, database ${report.db}`
  return inUse(check, port, usedBy, '--port')
}

/** The finding for the dashboard's port. `folder` is the data folder of its gateway. */
export async function checkDashboardPort(host: string, port: number, folder: string): Promise<Finding> {
  const check = 'dashboard'
  const problem = await bindError(host, port, '--dashboard-port')
  if (problem === null) return ok(check, `${port === 0 ? 'any free port' : `${port} on ${host}`} is free`)
  if (problem.exitCode !== exitCode.portInUse)
    return fault(check, problem.message, 'the dashboard cannot start')
  const dashboard = await findDashboard(reachableOrigin(host, port))
  if (dashboard === null) return inUse(check, port, '', '--dashboard-port')
  if (dashboard.status === null) {
    const message = `${port} is used by a dashboard that needs a token`
    return warning(
      check,
      message,
      'if it belongs to another folder, choose another port with --dashboard-port',
    )
  }
  const otherFolder = dirname(dashboard.status.health?.db ?? dashboard.status.log_file)
  return otherFolder === folder
    ? ok(check, `${port} is used by the dashboard of this folder`)
    : inUse(check, port, ` used by a dashboard for ${otherFolder}`, '--dashboard-port')
}

function inUse(check: string, port: number, usedBy: string, flag: string): Finding {
  const holder = usedBy === '' ? holderOf(port) : null
  const words = holder === null ? usedBy : ` used by ${holder}`
  const remedy = `end it, or choose another port with ${flag}`
  return fault(check, `${port} is in use${words === '' ? '' : `:${words}`}`, remedy)
}

/** Why nothing can listen on the port; null if listening works. */
async function bindError(host: string, port: number, flag: string): Promise<CommandError | null> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    server.close()
    return null
  } catch (error) {
    return listenProblem(error, host, port, flag)
  }
}

/** The process on a port, such as `nc (process 4711)`. Null if Linux does not show it to this user (proc_pid_net(5)). */
function holderOf(port: number): string | null {
  try {
    const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
    const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n'))
    const listening = rows
      .map((row) => row.trim().split(/\s+/))
      .filter(([, address = '', , state]) => state === '0A' && address.endsWith(end))
    const sockets = new Set(listening.map((row) => `socket:[${row[9]}]`))
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && holdsOne(name, sockets))
    if (pid === undefined) return null
    const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return `${basename(program)} (process ${pid})`
  } catch {
    return null
  }
}

function holdsOne(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`
  // The process may have ended, or belongs to another user.
  return orNull(() => readdirSync(folder).some((fd) => sockets.has(readlinkSync(`${folder}/${fd}`)))) ?? false
}
