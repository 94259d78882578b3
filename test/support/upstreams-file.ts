import { mkdirSync, writeFileSync } from 'node:fs'
import type { UpstreamSetting } from '../../src/options/upstream-settings.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { untilHealth } from './gateway-state.ts'
import { makeTempDir } from './temp-dir.ts'

export interface GatewayOfUpstreamsOptions {
  /** The default one. */
  readonly upstream: string
  readonly named: readonly UpstreamSetting[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly nodeArgs?: readonly string[]
}

/** The real gateway with a file of further upstreams. */
export async function startGatewayOfUpstreams(options: GatewayOfUpstreamsOptions): Promise<GatewayProcess> {
  await using cleanup = new AsyncDisposableStack()
  const { path: directory } = cleanup.use(await makeTempDir())
  const { named, ...rest } = options
  writeUpstreams(directory, named)
  const gateway = cleanup.use(await startGatewayProcess({ ...rest, directory }))
  const owned = cleanup.move()
  return Object.create(gateway, {
    [Symbol.asyncDispose]: { value: () => owned.disposeAsync() },
  }) as GatewayProcess
}

/** Writes the file beside the database. */
export function writeUpstreams(directory: string, upstreams: readonly UpstreamSetting[]): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${directory}/upstreams.json`, JSON.stringify({ version: 1, upstreams }, null, 2))
}

/** What `/health` says of the upstream with this name. */
export interface ToldUpstream {
  readonly name: string
  readonly state: string
  readonly rate_limiter: Readonly<Record<string, number>>
  readonly token_limit?: number
  readonly used_tokens?: number | null
  readonly replicas: readonly {
    readonly host: string
    readonly state: string
    readonly in_flight: number
    readonly failing_since: string | null
  }[]
}

/** Waits until the gateway's upstreams are as wanted. */
export function untilUpstreams(
  gateway: GatewayProcess,
  what: string,
  holds: (upstreams: readonly ToldUpstream[]) => boolean,
): Promise<unknown> {
  return untilHealth(gateway, what, ({ upstreams }) => holds((upstreams ?? []) as readonly ToldUpstream[]))
}

/** Puts these in the place of all upstreams but the default one, and waits until the gateway goes by them. */
export async function setUpstreams(
  gateway: GatewayProcess,
  named: readonly UpstreamSetting[],
): Promise<void> {
  writeUpstreams(gateway.directory, named)
  const wanted = named
    .map(({ name, urls }) => [name, ...urls.map((url) => new URL(url).host)].join())
    .join('; ')
  await untilUpstreams(gateway, `${wanted} are known`, (all) => {
    const told = all.slice(1).map(({ name, replicas }) => [name, ...replicas.map(({ host }) => host)].join())
    return told.join('; ') === wanted
  })
}
