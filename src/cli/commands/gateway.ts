import { exitCode } from '../exit-code.ts'
import { systemClock } from '../../call/clock.ts'
import { type Listener, listen, makeServer, portOf } from '../../gateway/http/listen.ts'
import { gatewayCommandTable } from '../../options/dashboard-options.ts'
import { parseUpstreamBase } from '../../gateway/http/target.ts'
import { type UpstreamProxy, proxyFor } from '../../gateway/upstream/upstream-proxy.ts'
import type { GatewayOptions } from '../../options/gateway-options.ts'
import { askHealth } from '../../supervisor/gateway-port.ts'
import { readAdminToken } from '../admin-token.ts'
import { listenProblem } from '../listen-problem.ts'
import { type CliCommand, OptionError, parseOptions } from '../parse-options.ts'
import { Predecessor } from '../../gateway/handover/predecessor.ts'
import { RunningGateway } from '../../gateway/process/running-gateway.ts'
import { startLines } from '../terminal/start-lines.ts'
import { stampLog } from '../../gateway/process/tell-of-recording.ts'

export const command: CliCommand = {
  name: 'gateway',
  description: 'forward calls and record them',
  options: gatewayCommandTable,
}

/** For what holds the port to say who it is. */
const probeLimitMs = 1000

/** `tokenweir gateway`: runs until it is told to stop, and then sets the process's exit code. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseOptions(gatewayCommandTable, argv, env)
  if (!process.stdout.isTTY) stampLog(systemClock)
  const adminToken = readAdminToken(options.adminTokenFile, env)
  const upstreamKey = env['UPSTREAM_API_KEY'] ?? null
  const proxy = upstreamProxy(options.upstream, env)
  const predecessor = await Predecessor.meet(env)
  const sharedPort = predecessor?.portFor(options.host, options.port) ?? null
  let listener: Listener
  try {
    listener = sharedPort === null ? await listenAt(options) : { server: makeServer(), port: sharedPort }
  } catch (error) {
    process.exitCode = await reportListenError(error, options)
    return
  }
  const secrets = { adminToken, upstreamKey, proxy }
  const gateway = new RunningGateway(listener, options, secrets, systemClock, predecessor?.legacy)
  gateway.stopOnSignals()
  const trouble = await gateway.openControl()
  if (trouble !== null) console.error(`tokenweir: no dashboard controls this gateway: ${trouble}`)
  if (predecessor !== null && trouble !== null) {
    // The predecessor keeps its place.
    process.exitCode = exitCode.fault
    gateway.giveUp()
    return
  }
  if (predecessor !== null && sharedPort !== null) {
    try {
      // Last of all: from here on calls come in, and the predecessor cannot take them back.
      await predecessor.letListen(listener.server, options.host)
    } catch (error) {
      process.exitCode = await reportListenError(error, options)
      gateway.giveUp()
      return
    }
  }
  for (const line of startLines(options, listener.port, gateway.lendsKey, proxy)) console.log(line)
  tellParent({ ready: true, controlled: trouble === null })
}

function upstreamProxy(upstream: string, env: NodeJS.ProcessEnv): UpstreamProxy | null {
  try {
    return proxyFor(parseUpstreamBase(upstream).origin, env)
  } catch (error) {
    throw error instanceof TypeError ? new OptionError(error.message) : error
  }
}

async function listenAt({ port, host }: GatewayOptions): Promise<Listener> {
  const server = await listen(port, host)
  return { server, port: portOf(server) }
}

/** A dashboard that started this process waits to hear; where it has gone meanwhile, nobody does. */
function tellParent(message: { readonly ready: true; readonly controlled: boolean }): void {
  process.send?.(message, undefined, undefined, () => {})
}

async function reportListenError(error: unknown, { host, port }: GatewayOptions): Promise<number> {
  const problem = listenProblem(error, host, port, '--port')
  console.error(`tokenweir: ${problem.message}`)
  if (problem.exitCode === exitCode.portInUse) {
    const { report } = await askHealth(host, port, probeLimitMs)
    if (report !== null) console.error(`  a gateway has it: process ${report.pid}, database ${report.db}`)
  }
  return problem.exitCode
}
