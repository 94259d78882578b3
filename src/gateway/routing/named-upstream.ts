import type { Clock } from '../../call/clock.ts'
import type { UpstreamCredentials, UpstreamSetting } from '../../options/upstream-settings.ts'
import { LocalAdmission } from '../admission/local-admission.ts'
import type { AdmissionOptions } from '../admission/local-admission.ts'
import { SharedSlots } from '../admission/shared-slots.ts'
import type { Destination } from '../call/attempt.ts'
import type { CallUpstream } from '../call/call-upstream.ts'
import { Retries429 } from '../call/retries-429.ts'
import { parseUpstreamBase } from '../http/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { UsageInjection } from '../usage-injection/usage-injection.ts'
import type { RawHeaders } from '../../call/call-observer.ts'
import { withoutCredentials } from './client-credentials.ts'
import { type KeyPlaces, keyHeaderOf } from './lent-key.ts'
import { ReplicaSet } from './replicas.ts'

/** What named upstreams are made with. */
export interface NamedUpstreamOptions {
  readonly clock: Clock
  /** The name of this gateway's run. */
  readonly instance: string
  /** As those of the default one now; `maxConcurrent` where an upstream says no other. */
  readonly admission: () => Omit<AdmissionOptions, 'clock'>
  readonly retry429Max: number
  /** Connections to an origin. */
  connect(origin: string): Upstream
  /** What is learned of the upstream with this base URL. */
  usageInjection(base: ReturnType<typeof parseUpstreamBase>): UsageInjection
  readonly keys: KeyPlaces
}

/** An upstream besides the default one. */
export class NamedUpstream implements CallUpstream {
  readonly name: string
  readonly admission: LocalAdmission
  /** Shared with the gateways before and after this one, while they finish their calls. */
  readonly slots: SharedSlots
  readonly retries: Retries429
  readonly replicas: ReplicaSet
  usageInjection: UsageInjection
  destination: Destination
  setting: UpstreamSetting
  /** Why it has no key. */
  problem: string | null = null
  readonly #options: NamedUpstreamOptions
  readonly #connections = new Map<string, Upstream>()

  constructor(setting: UpstreamSetting, options: NamedUpstreamOptions) {
    const { clock, instance, admission, retry429Max: max } = options
    this.#options = options
    this.name = setting.name
    this.setting = setting
    this.admission = new LocalAdmission({ ...admission(), clock })
    this.slots = new SharedSlots({ admission: this.admission, clock, holder: instance, leaseMs: Infinity })
    this.retries = new Retries429({ clock, admission: this.admission, max, random: Math.random })
    this.replicas = new ReplicaSet(clock)
    const [first] = this.#apply(setting)
    this.destination = first
    this.usageInjection = options.usageInjection(first.base)
  }

  /** This holds from now on, for calls that wait, too. */
  set(setting: UpstreamSetting): void {
    const before = this.destination.base
    const [first] = this.#apply(setting)
    this.setting = setting
    this.destination = first
    if (first.base.origin + first.base.pathPrefix !== before.origin + before.pathPrefix) {
      this.usageInjection = this.#options.usageInjection(first.base)
    }
  }

  /** Closes all connections; calls under way fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((upstream) => upstream.close()))
  }

  /** The destinations, the first one first. */
  #apply({ urls, max_concurrent: own, credentials = 'none' }: UpstreamSetting): [Destination] {
    const maxConcurrent = own ?? this.#options.admission().maxConcurrent
    this.admission.setCapacity(maxConcurrent)
    this.problem = null
    const withhold = credentials === 'client' ? null : withoutCredentials
    const all = new Map<string, Destination>()
    for (const url of urls) {
      const base = parseUpstreamBase(url)
      all.set(url, {
        upstream: this.#connect(base.origin),
        base,
        keyHeader: this.#keyHeader(credentials, base.host),
        withhold,
      })
    }
    this.replicas.set(all, maxConcurrent)
    const [first] = all.values()
    if (first === undefined) throw new TypeError(`${this.name} has no address`)
    return [first]
  }

  #keyHeader(credentials: UpstreamCredentials, host: string): RawHeaders {
    const header = keyHeaderOf(credentials, host, this.#options.keys)
    if (!(header instanceof Error)) return header
    this.problem = header.message
    return []
  }

  /** Kept also where its address is taken away: calls may still be under way there. */
  #connect(origin: string): Upstream {
    const known = this.#connections.get(origin)
    if (known !== undefined) return known
    const upstream = this.#options.connect(origin)
    this.#connections.set(origin, upstream)
    return upstream
  }
}
