import { after } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import type { UpstreamSetting } from '../../src/options/upstream-settings.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { recordedCalls } from './recorded-calls.ts'
import {
  type SimulatedUpstream,
  type SimulatedUpstreamOptions,
  startSimulatedUpstream,
} from './simulated-upstream.ts'
import {
  type GatewayOfUpstreamsOptions,
  startGatewayOfUpstreams,
  untilUpstreams,
  writeUpstreams,
} from './upstreams-file.ts'

/** An upstream that one test alone uses. */
export interface OwnUpstream extends SimulatedUpstream {
  readonly name: string
  /** Before a path it leads a call here: `/own-3`. */
  readonly prefix: string
  /** Waits for so many rows of its calls, and answers them, oldest first. */
  recorded(count: number): Promise<readonly CallJson[]>
}

export interface SharedGateway {
  readonly gateway: GatewayProcess
  /** `await using upstream = await shared.upstream()`, with settings as in `upstreams.json`. */
  upstream(options?: SimulatedUpstreamOptions, settings?: Partial<UpstreamSetting>): Promise<OwnUpstream>
}

/** One gateway for all tests of a file, each of which has an upstream of its own; it ends with the file. */
export async function shareGateway(
  options: Omit<GatewayOfUpstreamsOptions, 'upstream' | 'named'> = {},
): Promise<SharedGateway> {
  const gateway = await startGatewayOfUpstreams({ ...options, upstream: 'http://127.0.0.1:9', named: [] })
  after(() => gateway[Symbol.asyncDispose]())
  const named: UpstreamSetting[] = []
  return {
    gateway,
    upstream: async (simulated = {}, settings = {}) => {
      const upstream = await startSimulatedUpstream(simulated)
      const name = `own-${named.length}`
      named.push({ ...settings, name, urls: [upstream.origin] })
      writeUpstreams(gateway.directory, named)
      await untilUpstreams(gateway, `${name} is known`, (told) => told.some((one) => one.name === name))
      return Object.create(upstream, {
        name: { value: name },
        prefix: { value: `/${name}` },
        recorded: { value: (count: number) => recordedCalls(gateway, count, name) },
      }) as OwnUpstream
    },
  }
}
