import { exitCode } from './exit-code.ts'
import type { Server } from 'node:http'
import { systemClock } from '../call/clock.ts'
import { listen, portOf } from '../gateway/listen.ts'
import { gatewayCommandTable } from '../options/dashboard-options.ts'
import type { GatewayOptions } from '../options/gateway-options.ts'
import { readAdminToken } from './admin-token.ts'
import { parseOptions } from './parse-options.ts'
import { RunningGateway } from './running-gateway.ts'
import { startLines } from './start-lines.ts'

/** `tokenweir gateway`: runs until it is told to stop, and then sets the process's exit code. */
export async function runGateway(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseOptions(gatewayCommandTable, argv, env)
  const adminToken = readAdminToken(options.adminTokenFile, env)
  const upstreamKey = env['UPSTREAM_API_KEY'] ?? null
  let listener: Server
  try {
    listener = await listen(options.port, options.host)
  } catch (error) {
    process.exitCode = reportListenError(error, options)
    return
  }
  const gateway = new RunningGateway(listener, options, { adminToken, upstreamKey }, systemClock)
  gateway.stopOnSignals()
  const trouble = await gateway.openControl()
  for (const line of startLines(options, portOf(listener), gateway.lendsKey)) console.log(line)
  if (trouble !== null) console.error(`tokenweir: no dashboard controls this gateway: ${trouble}`)
  tellParent({ ready: true, controlled: trouble === null })
}

/** A dashboard that started this process waits to hear; where it has gone meanwhile, nobody does. */
function tellParent(message: { readonly ready: true; readonly controlled: boolean }): void {
  process.send?.(message, undefined, undefined, () => {})
}

function reportListenError(error: unknown, options: GatewayOptions): number {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'EADDRINUSE') {
    console.error(`tokenweir: port ${options.port} is in use; --port chooses another, and 0 any free one`)
    return exitCode.portInUse
  }
  console.error(`tokenweir: cannot listen on ${options.host}:${options.port}:`, error)
  return exitCode.fault
}
