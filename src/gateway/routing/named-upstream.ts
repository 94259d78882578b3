import type { Clock } from '../../call/clock.ts'
import { remembered } from '../../lib/remembered.ts'
import type { UpstreamCredentials, UpstreamSetting } from '../../options/upstream-settings.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import { isSecretHeader, isSecretParameter } from '../../secrets/secret-headers.ts'
import { LocalAdmission } from '../admission/local-admission.ts'
import type { AdmissionOptions } from '../admission/local-admission.ts'
import { SharedSlots } from '../admission/shared-slots.ts'
import type { Destination, Withhold } from '../call/attempt.ts'
import type { CallUpstream } from '../call/call-upstream.ts'
import { usualSessionPlaces } from '../caller/caller-headers.ts'
import { Retries429 } from '../call/retries-429.ts'
import { parseUpstreamBase } from '../http/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { UsageInjection } from '../usage-injection/usage-injection.ts'
import type { RawHeaders } from '../../call/call-observer.ts'
import { type KeyPlaces, keyHeaderOf, keyOf } from './lent-key.ts'
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
  usageInjection(): UsageInjection
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
  /** What is wrong with its key: completes "It …". */
  problem: string | null = null
  /** The last key that could be read. */
  #key: { readonly of: string; readonly key: string } | null = null
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
    this.usageInjection = options.usageInjection()
  }

  /** This holds from now on, for calls that wait, too. */
  set(setting: UpstreamSetting): void {
    const before = this.destination.base
    const [first] = this.#apply(setting)
    this.setting = setting
    this.destination = first
    if (first.base.origin + first.base.pathPrefix !== before.origin + before.pathPrefix) {
      this.usageInjection = this.#options.usageInjection()
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
    if (typeof credentials === 'string') return []
    const of = JSON.stringify(credentials)
    const found = keyOf(credentials, this.#options.keys)
    if (typeof found === 'string') this.#key = { of, key: found }
    const isHeld = this.#key?.of === of
    // An editor may just be saving the file.
    if (found instanceof Error) {
      const what = isHeld ? 'goes on with the key that it had' : 'gets no key'
      this.problem = `${what}: ${found.message}`
    }
    return isHeld && this.#key !== null ? keyHeaderOf(credentials, this.#key.key, host) : []
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

const longestRemembered = 300

/** Headers that are named like a credential, and name a session. */
const isCredential = remembered((name) => {
  const lower = name.toLowerCase()
  return isSecretHeader(lower) && !usualSessionPlaces.ranks.has(lower)
})
const holdsKey = remembered((value) => maskKeys(value) !== value, longestRemembered)

/** Takes a client's credentials out of what an upstream gets that they are not for: by a header's name, and by their form. */
const withoutCredentials: Withhold = {
  headers(headers: RawHeaders): string[] {
    const open: string[] = []
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = headers[at] ?? ''
      const value = headers[at + 1] ?? ''
      if (!isCredential(name) && !holdsKey(value)) open.push(name, value)
    }
    return open
  },

  query(query: string): string {
    if (query === '') return query
    const pairs = query.slice(1).split(/(?=[&;])/)
    const open = pairs.filter((pair) => !isSecretPair(pair.replace(/^[&;]/, '')))
    if (open.length === pairs.length) return query
    return open.length === 0 ? '' : `?${open.join('').replace(/^[&;]/, '')}`
  },
}

function isSecretPair(pair: string): boolean {
  const [name = ''] = pair.split('=', 1)
  if (usualSessionPlaces.ranks.has(name.toLowerCase())) return false
  return isSecretParameter(name) || holdsKey(pair)
}
