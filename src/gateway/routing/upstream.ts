import type { RawHeaders } from '../../call/response-head.ts'
import type { Clock } from '../../call/clock.ts'
import type { UpstreamCredentials, UpstreamSetting } from '../../options/upstream-settings.ts'
import { type AdmissionOptions, SlotLimiter } from '../admission/slot-limiter.ts'
import { parseUpstreamBase } from '../http/target.ts'
import type { Transport } from '../upstream/transport.ts'
import { UsageInjection } from '../usage-injection/usage-injection.ts'
import { type KeyPlaces, keyHeader, keyHeaderOf, keyOf } from './credentials.ts'
import { type Endpoint, Replicas } from './replicas.ts'

/** The dependencies of an upstream. */
export interface UpstreamOptions {
  readonly clock: Clock
  /** True if other gateways use the same slots. */
  readonly isShared: boolean
  /** Returns the present options. An upstream's own setting replaces `maxConcurrent`. */
  readonly admission: () => Omit<AdmissionOptions, 'clock'>
  /** Opens a transport to an origin. */
  connect(origin: string): Transport
  /** True if usage is requested on streams whose client did not ask for it. */
  readonly injectsUsage: boolean
  readonly keys: KeyPlaces
  /** The gateway's key for calls whose client sends none, where clients' keys are passed on; null without one. */
  readonly defaultKey: string | null
}

/** An API that calls are forwarded to: its slots, replicas and keys. */
export class Upstream {
  readonly name: string
  readonly admission: SlotLimiter
  /** True if other gateways use the same slots. */
  readonly isShared: boolean
  readonly replicas: Replicas
  /** The endpoint until a replica is chosen. */
  endpoint: Endpoint
  usageInjection: UsageInjection
  setting: UpstreamSetting
  /** The fault of the upstream's key, which completes "The upstream …"; null without one. */
  problem: string | null = null
  /** The last readable key, and the setting (`of`) that it belongs to. */
  #key: { readonly of: string; readonly key: string } | null = null
  readonly #options: UpstreamOptions
  readonly #transports = new Map<string, Transport>()

  constructor(setting: UpstreamSetting, options: UpstreamOptions) {
    const { clock } = options
    this.#options = options
    this.name = setting.name
    this.setting = setting
    this.admission = new SlotLimiter({ ...options.admission(), clock })
    this.isShared = options.isShared
    this.replicas = new Replicas(clock)
    this.endpoint = this.#apply(setting)
    this.usageInjection = new UsageInjection(options.injectsUsage, clock)
  }

  /** Replaces the setting, also for waiting calls. */
  set(setting: UpstreamSetting): void {
    const before = this.endpoint.base
    this.setting = setting
    this.endpoint = this.#apply(setting)
    const { origin, pathPrefix } = this.endpoint.base
    if (origin + pathPrefix === before.origin + before.pathPrefix) return
    this.usageInjection = new UsageInjection(this.#options.injectsUsage, this.#options.clock)
  }

  /** True if calls hold or wait for a slot, or are at the upstream without one. */
  get isBusy(): boolean {
    const { active, queued } = this.admission.snapshot()
    return active + queued > 0 || this.replicas.states().some(({ inFlight }) => inFlight > 0)
  }

  /** Closes all connections; calls under way fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()))
  }

  /** Applies a setting. Returns the first endpoint. */
  #apply({ urls, max_concurrent: max, credentials = 'none' }: UpstreamSetting): Endpoint {
    const maxConcurrent = max ?? this.#options.admission().maxConcurrent
    this.admission.setCapacity(maxConcurrent)
    this.problem = null
    const endpoints = new Map<string, Endpoint>()
    for (const url of urls) {
      const base = parseUpstreamBase(url)
      endpoints.set(url, {
        transport: this.#connect(base.origin),
        base,
        keyHeader: this.#keyHeader(credentials, base.host),
        stripsCredentials: credentials !== 'client',
      })
    }
    this.replicas.set(endpoints, maxConcurrent)
    const [first] = endpoints.values()
    if (first === undefined) throw new TypeError(`${this.name} has no address`)
    return first
  }

  #keyHeader(credentials: UpstreamCredentials, host: string): RawHeaders {
    if (credentials === 'client') return keyHeader(this.#options.defaultKey, host)
    if (credentials === 'none') return []
    const of = JSON.stringify(credentials)
    const keyOrError = keyOf(credentials, this.#options.keys)
    if (typeof keyOrError === 'string') this.#key = { of, key: keyOrError }
    const isHeld = this.#key?.of === of
    // The last key stays in use, because an editor may just be saving the file.
    if (keyOrError instanceof Error) {
      const what = isHeld ? 'keeps its last key' : 'gets no key'
      this.problem = `${what}: ${keyOrError.message}`
    }
    return isHeld && this.#key !== null ? keyHeaderOf(credentials, this.#key.key, host) : []
  }

  /**
   * The transport to an origin. The transport stays when the address is removed, because calls may still run there.
   */
  #connect(origin: string): Transport {
    const existing = this.#transports.get(origin)
    if (existing !== undefined) return existing
    const transport = this.#options.connect(origin)
    this.#transports.set(origin, transport)
    return transport
  }
}
