import { dirname, isAbsolute, join } from 'node:path'
import type { UpstreamHealth } from '../../api/health-report.ts'
import type { Warning } from '../../call/call-sink.ts'
import { UpstreamsFile } from '../../options/upstreams-file.ts'
import type { CallUpstream, Routes, Routing } from '../call/call-upstream.ts'
import { watchPath } from '../../lib/watch-path.ts'
import { slotReport } from '../http/health.ts'
import { NamedUpstream, type NamedUpstreamOptions } from '../routing/named-upstream.ts'
import { NamedRoutes } from '../routing/named-routes.ts'
import { reportFault } from '../../lib/fault.ts'

const lookEveryMs = 500

type AdmissionSettings = ReturnType<NamedUpstreamOptions['admission']>

export interface WatchedUpstreamsOptions extends Omit<NamedUpstreamOptions, 'keys' | 'admission'> {
  /** At the start: {@link WatchedUpstreams.setAdmission} changes it. */
  readonly admission: AdmissionSettings
  readonly path: string
  /** Of the gateway and its dashboard. */
  readonly ownPorts: readonly number[]
  readonly byDefault: CallUpstream
  /** The gateway's environment. */
  readonly variable: (name: string) => string | undefined
}

/** Keeps named upstreams in force, as people change their file. */
export class WatchedUpstreams implements Routing {
  readonly #options: WatchedUpstreamsOptions
  readonly #named = new Map<string, NamedUpstream>()
  /** Taken out of the file; calls may still be under way there. */
  readonly #gone = new Set<NamedUpstream>()
  readonly #file: UpstreamsFile
  readonly #unwatch: () => void
  #unwatchKeys: readonly (() => void)[] = []
  #admission: AdmissionSettings
  #isDraining = false
  routes: Routes | null = null
  /** Told when upstreams have come, gone or changed. */
  onChange = (): void => {}

  constructor(options: WatchedUpstreamsOptions) {
    this.#options = options
    this.#admission = options.admission
    this.#file = new UpstreamsFile(options.path, options.ownPorts)
    this.look()
    this.#unwatch = watchPath(options.path, lookEveryMs, () => this.look())
  }

  /** Reads the file again, if it is another one than before; what it says is in force when this returns. */
  look(): void {
    if (this.#file.look({ ownOnly: true })) this.#apply()
  }

  /** Holds from now on, for those that come later too. */
  setAdmission(changed: Partial<AdmissionSettings>): void {
    this.#admission = { ...this.#admission, ...changed }
    const { queueOrder, slotCooldownMs } = changed
    for (const upstream of this.all()) {
      if (queueOrder !== undefined) upstream.admission.setQueueOrder(queueOrder)
      if (slotCooldownMs !== undefined) upstream.admission.setCooldown(slotCooldownMs)
      // One that has no slots of its own follows.
      if (changed.maxConcurrent !== undefined) upstream.set(upstream.setting)
    }
  }

  drain(): void {
    this.#isDraining = true
    for (const { admission } of this.all()) admission.drain()
  }

  /** Those in the file, and those before them that may have calls. */
  *all(): Iterable<NamedUpstream> {
    yield* this.#named.values()
    yield* this.#gone
  }

  /** Tokens of any 24 hours, by the upstream that has a limit of its own. */
  tokenLimits(): ReadonlyMap<string, number> {
    return new Map(
      Array.from(this.#named.values()).flatMap(({ name, setting: { token_limit: limit } }) =>
        limit === undefined ? [] : [[name, limit] as const],
      ),
    )
  }

  /** `usedAt`: the tokens that an upstream with a limit has used; null while that is not known. */
  report(usedAt: (name: string) => number | null): readonly UpstreamHealth[] {
    return Array.from(this.#named.values(), (upstream) => healthOf(upstream, usedAt))
  }

  /** What a person should know of. */
  get warnings(): readonly Warning[] {
    const { problem } = this.#file
    const broken =
      problem === null
        ? []
        : [{ code: 'broken_upstreams_file', message: `${problem} The last good upstreams hold` }]
    const keyless = Array.from(this.#named.values()).flatMap(({ name, problem: what }) =>
      what === null ? [] : [{ code: 'upstream_key_missing', message: `The upstream ${name} ${what}` }],
    )
    return [...broken, ...keyless]
  }

  async close(): Promise<void> {
    this.#unwatch()
    this.#watchKeys([])
    await Promise.all(Array.from(this.all(), (upstream) => upstream.close()))
  }

  #apply(): void {
    const settings = this.#file.content.upstreams
    const { path, variable } = this.#options
    const folder = dirname(path)
    const keys = { variable, folder }
    const options = { ...this.#options, admission: () => this.#admission, keys }
    for (const upstream of this.#gone) {
      const { active, queued } = upstream.admission.snapshot()
      if (active + queued > 0) continue
      this.#gone.delete(upstream)
      upstream.close().catch(reportFault)
    }
    for (const [name, upstream] of this.#named) {
      if (settings.some((setting) => setting.name === name)) continue
      this.#named.delete(name)
      this.#gone.add(upstream)
    }
    const named = settings.map((setting) => {
      const known = this.#named.get(setting.name) ?? [...this.#gone].find(({ name }) => name === setting.name)
      known?.set(setting)
      const upstream = known ?? new NamedUpstream(setting, options)
      this.#gone.delete(upstream)
      this.#named.set(setting.name, upstream)
      if (known === undefined && this.#isDraining) upstream.admission.drain()
      return upstream
    })
    this.routes = named.length === 0 ? null : new NamedRoutes(named, this.#options.byDefault)
    this.#watchKeys(
      settings.flatMap(({ credentials }) =>
        typeof credentials === 'object' && 'file' in credentials
          ? [isAbsolute(credentials.file) ? credentials.file : join(folder, credentials.file)]
          : [],
      ),
    )
    this.onChange()
  }

  #watchKeys(files: readonly string[]): void {
    for (const unwatch of this.#unwatchKeys) unwatch()
    const onChange = (): void => {
      for (const upstream of this.#named.values()) upstream.set(upstream.setting)
    }
    this.#unwatchKeys = files.map((file) => watchPath(file, lookEveryMs, onChange))
  }
}

function healthOf(
  { name, problem, setting, admission, retries, replicas }: NamedUpstream,
  usedAt: (name: string) => number | null,
): UpstreamHealth {
  const states = replicas.states()
  const isUp = states.some(({ failingSinceMs }) => failingSinceMs === null)
  return {
    name,
    state: isUp ? 'up' : 'failing',
    problem,
    rate_limiter: slotReport(admission.snapshot(), retries.total),
    ...(setting.token_limit === undefined
      ? {}
      : { token_limit: setting.token_limit, used_tokens: usedAt(name) }),
    replicas: states.map(({ host, inFlight, failingSinceMs, problem: why }) => ({
      host,
      state: failingSinceMs === null ? 'up' : 'failing',
      in_flight: inFlight,
      failing_since: failingSinceMs === null ? null : new Date(failingSinceMs).toISOString(),
      problem: why,
    })),
  }
}
