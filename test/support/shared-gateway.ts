import { after } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import type { UpstreamSetting } from '../../src/options/upstream-settings.ts'
import type { GatewayProcess } from './gateway-process.ts'
import type { CallsAtGateway } from './gateway-state.ts'
import { recordedCalls } from './recorded-calls.ts'
import {
  type SimulatedUpstream,
  type SimulatedUpstreamOptions,
  startSimulatedUpstream,
} from './simulated-upstream.ts'
import {
  type GatewayOfUpstreamsOptions,
  type ToldUpstream,
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
  /** Waits until so many of its calls hold slots and so many wait; none, unless told. */
  untilCalls(wanted?: CallsAtGateway): Promise<void>
  /** What `/health` says of its slots. */
  slots(): Promise<Readonly<Record<string, number>>>
}

export interface SharedGateway {
  readonly gateway: GatewayProcess
  /** `await using upstream = await shared.upstream()`, with settings as in `upstreams.json`. */
  upstream(options?: SimulatedUpstreamOptions, settings?: Partial<UpstreamSetting>): Promise<OwnUpstream>
}

/** Upstreams that the gateway knows before a test asks for one: it takes half a second to learn of one more. */
const readyAtOnce = 24

/** One gateway for all tests of a file, each of which has an upstream of its own; it ends with the file. */
export async function shareGateway(
  options: Omit<GatewayOfUpstreamsOptions, 'upstream' | 'named'> = {},
): Promise<SharedGateway> {
  const named: UpstreamSetting[] = []
  const ready: ReadyUpstream[] = []
  const prepare = async (settings: Partial<UpstreamSetting> = {}): Promise<ReadyUpstream> => {
    const simulated: SimulatedUpstreamOptions = {}
    const upstream = await startSimulatedUpstream(simulated)
    const name = `own-${named.length}`
    named.push({ ...settings, name, urls: [upstream.origin] })
    return { name, upstream, simulated }
  }
  for (let i = 0; i < readyAtOnce; i++) ready.push(await prepare())
  const gateway = await startGatewayOfUpstreams({ ...options, upstream: 'http://127.0.0.1:9', named })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const { upstream } of ready) await upstream.close()
  })
  /** One more, which the gateway learns of. */
  const learn = async (settings: Partial<UpstreamSetting>): Promise<ReadyUpstream> => {
    const another = await prepare(settings)
    writeUpstreams(gateway.directory, named)
    await untilUpstreams(gateway, `${another.name} is known`, (told) =>
      told.some((one) => one.name === another.name),
    )
    return another
  }
  return {
    gateway,
    upstream: async (wanted = {}, settings) => {
      const own = (settings === undefined ? ready.shift() : undefined) ?? (await learn(settings ?? {}))
      const { name, upstream } = own
      Object.assign(own.simulated, wanted)
      const slotsOf = (all: readonly ToldUpstream[]): Readonly<Record<string, number>> =>
        all.find((one) => one.name === name)?.rate_limiter ?? {}
      const more: Omit<OwnUpstream, keyof SimulatedUpstream> = {
        name,
        prefix: `/${name}`,
        recorded: (count) => recordedCalls(gateway, count, name),
        untilCalls: async ({ active, queued } = { active: 0, queued: 0 }) => {
          await untilUpstreams(gateway, `${active} calls of ${name} are active and ${queued} wait`, (all) => {
            const told = slotsOf(all)
            return told['active'] === active && told['queued'] === queued
          })
        },
        slots: async () => slotsOf((await gateway.health())['upstreams'] as readonly ToldUpstream[]),
      }
      return Object.create(upstream, Object.getOwnPropertyDescriptors(more)) as OwnUpstream
    },
  }
}

/** An upstream that no test has asked for yet; what it answers is told by the one who asks. */
interface ReadyUpstream {
  readonly name: string
  readonly upstream: SimulatedUpstream
  readonly simulated: SimulatedUpstreamOptions
}
