import { after } from 'node:test'
import { type GatewayProcess, type GatewayProcessOptions, startGatewayProcess } from './gateway-process.ts'
import {
  type SimulatedUpstream,
  type SimulatedUpstreamOptions,
  startSimulatedUpstream,
} from './simulated-upstream.ts'

/** An upstream, and the real gateway before it, for all tests of a file: both end with it. */
export async function startGatewayOfFile(
  options: Omit<GatewayProcessOptions, 'upstream'> = {},
  simulated: SimulatedUpstreamOptions = {},
): Promise<{ readonly upstream: SimulatedUpstream; readonly gateway: GatewayProcess }> {
  const upstream = await startSimulatedUpstream(simulated)
  const gateway = await startGatewayProcess({ ...options, upstream: upstream.origin })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await upstream.close()
  })
  return { upstream, gateway }
}
