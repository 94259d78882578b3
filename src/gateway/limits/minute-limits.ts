import type { RecentCall } from '../../call/call-sink.ts'
import { type Clock, withTimeout } from '../../call/clock.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import type { LearnedLimit } from '../../control/control-messages.ts'
import type { Caller } from '../admission/admission.ts'
import { type Owner, entryOf, nameOfOwner } from '../admission/owner.ts'
import { OwnedLimit, LimitGroup, type LimitOwner, LimitStake } from './owned-limit.ts'
import { LearnedLimits } from './learned-limits.ts'
import type { LimitedKind } from './limit-headers.ts'
import type { LimitedUse, SeenLimit } from './seen-limits.ts'
import { TokenEstimate, type Tokens } from './token-estimate.ts'

/** Limits a minute that a person has set. */
export interface MinuteSetting {
  readonly max_rpm?: number | undefined
  readonly max_tpm?: number | undefined
}

/** The limits a minute of an upstream. */
export interface UpstreamLimits extends MinuteSetting {
  readonly name: string
  /** By patterns of models; the first match counts. */
  readonly models: readonly (MinuteSetting & {
    readonly pattern: string
    readonly takes: (model: string) => boolean
  })[]
}

/** The facts of a call that its estimate needs. */
export interface CallToAdmit {
  readonly caller: Caller
  readonly requestBytes: number
  /** Output tokens that the call allows; 0 without a bound. */
  readonly tokensAsked: number
  /** When the call began to wait (monotonic ms). */
  readonly sinceMs: number
}

const defaultUpstream = 'default'
/** Most groups in the cache. */
const mostGroups = 2000
const kinds = [
  ['requests', 'max_rpm'],
  ['tokens', 'max_tpm'],
] as const

/**
 * The limits a minute that calls wait for: the settings for upstreams, models and clients, and with `learnsLimits` those that
 * providers report.
 */
export class MinuteLimits {
  readonly #nowMs: () => number
  readonly #learned: LearnedLimits | null
  readonly #estimate = new TokenEstimate()
  /** All limits by their keys. */
  readonly #limits = new Map<string, OwnedLimit>()
  readonly #groups = new Map<string, LimitGroup | null>()
  #upstreams: ReadonlyMap<string, UpstreamLimits> = new Map()
  #clients: ReadonlyMap<Owner, MinuteSetting> = new Map()
  /** How many gateways divide the limits; null while that is unknown. */
  #gateways: number | null = null
  /** Called when waiting calls may go. */
  onRoom = (): void => {}
  /** Called when the limits have changed. */
  onChange = (): void => {}

  constructor(nowMs: () => number, learnsLimits: boolean) {
    this.#nowMs = nowMs
    this.#learned = learnsLimits ? new LearnedLimits() : null
  }

  /** Replaces the limits that a person has set. */
  set(upstreams: Iterable<UpstreamLimits>, clients: ReadonlyMap<Owner, MinuteSetting>): void {
    this.#upstreams = new Map(Array.from(upstreams, (upstream) => [upstream.name, upstream]))
    this.#clients = clients
    const before = this.#limits.size
    const current = new Set<OwnedLimit>()
    for (const { name, models, ...ofAll } of this.#upstreams.values()) {
      const all = [ofAll, ...models].map((setting) => this.#ofUpstream(name, setting))
      for (const limit of all.flat()) current.add(limit)
    }
    for (const [owner, setting] of clients)
      for (const limit of this.#ofClient(owner, setting)) current.add(limit)
    for (const [key, limit] of this.#limits) if (!current.has(limit)) this.#limits.delete(key)
    this.#groups.clear()
    if (before + current.size > 0) this.onChange()
  }

  /**
   * Sets how many gateways divide the limits. A share that this gateway gains counts as used, because others
   * may have used it within this minute. After a join, that is the whole share.
   */
  divide(gateways: number): void {
    const before = this.#gateways
    if (gateways === before) return
    const nowMs = this.#nowMs()
    for (const limit of this.list()) {
      const part = limit.limit
      limit.limit = (part * (before ?? 1)) / gateways
      const gained = before === null ? limit.limit : limit.limit - part
      if (gained > 0 && gateways + (before ?? 0) > 1) limit.correctTo(nowMs, limit.used(nowMs) + gained)
    }
    this.#gateways = gateways
    this.onRoom()
  }

  /**
   * Counts the calls of the last minute from the database, for a gateway without a predecessor. Until they
   * are read, but for at most `waitMs`, no call may use a limit.
   */
  async readPast(past: Promise<readonly RecentCall[] | null>, clock: Clock, waitMs: number): Promise<void> {
    const unread = this.list()
    for (const limit of unread) limit.isClosed = true
    const calls = await withTimeout(clock, waitMs, past)
    for (const limit of unread) limit.isClosed = false
    const nowMs = this.#nowMs()
    for (const { upstreamName, model, client, keyFingerprint, sentMs, tokens, attempts } of Array.isArray(
      calls,
    )
      ? calls
      : []) {
      const use = { upstream: upstreamName ?? defaultUpstream, model, key: keyFingerprint }
      const atMs = nowMs - Math.max(0, clock.wallTime() - sentMs)
      for (const limit of this.#groupOf(use, { client, keyFingerprint })?.limits ?? [])
        limit.add(nowMs, atMs, limit.kind === 'requests' ? attempts : tokens)
    }
    this.onRoom()
  }

  /** True if any limit exists, or may be learned. */
  get isOn(): boolean {
    return this.#limits.size > 0 || this.#learned !== null
  }

  /** The call's share of its limits; null without a limit. */
  stakeOf(use: LimitedUse, { caller, requestBytes, tokensAsked, sinceMs }: CallToAdmit): LimitStake | null {
    const of = JSON.stringify([use.upstream, use.model, use.key, caller.client, caller.keyFingerprint])
    if (this.#groups.size > mostGroups) this.#groups.clear()
    const group = getOrAdd(this.#groups, of, () => this.#groupOf(use, caller))
    if (group === null) return null
    group.learned?.grow(this.#nowMs())
    const estimate = this.#estimate.of(use.model, requestBytes, tokensAsked)
    return new LimitStake(group, estimate, { upstream: use.upstream, sinceMs })
  }

  /** Ends an attempt that used these tokens; null if it was not sent. */
  settle(stake: LimitStake, used: Tokens | null): void {
    if (stake.settle(this.#nowMs(), used)) this.onRoom()
  }

  /** Counts the tokens that a provider reported for a call. */
  learn(model: string | null, requestBytes: number, used: Tokens): void {
    this.#estimate.learn(model, requestBytes, used)
  }

  /** Applies the limits that a provider reported in the answer to an attempt. */
  applySeen({ group: { learned } }: LimitStake, reported: SeenLimit): void {
    if (learned === null) return
    const before = learned.limits
    learned.applySeen(reported, this.#nowMs(), this.#gateways ?? 1)
    if (learned.limits !== before) {
      this.#groups.clear()
      this.onChange()
    } else this.onRoom()
  }

  /** Undoes the effect of the attempt's last refusal, because the refusal is final, whatever the pace. */
  forgive({ group: { learned } }: LimitStake): void {
    learned?.forgive()
    this.onRoom()
  }

  /** All limits. With a time (monotonic ms) also those without a known value, if a pause lasts longer. */
  list(pausedAtMs?: number): readonly OwnedLimit[] {
    return [...this.#limits.values(), ...(this.#learned?.limits(pausedAtMs) ?? [])]
  }

  /** The rest of the pause that a provider asked for. */
  pausedMs(use: LimitedUse): number {
    return Math.max(0, (this.#learned?.of(use).pausedUntilMs ?? 0) - this.#nowMs())
  }

  /** Adopts a limit that another gateway has learned; undefined if this gateway learns none. */
  learnedBefore(learned: LearnedLimit): OwnedLimit | undefined {
    return this.#learned?.of(learned).restore(learned, this.#nowMs())
  }

  #groupOf(use: LimitedUse, caller: Caller): LimitGroup | null {
    const upstream = this.#upstreams.get(use.upstream)
    const { model } = use
    const ofModel = model === null ? undefined : upstream?.models.find(({ takes }) => takes(model))
    const limits = [
      ...(upstream === undefined ? [] : this.#ofUpstream(use.upstream, upstream)),
      ...(ofModel === undefined ? [] : this.#ofUpstream(use.upstream, ofModel)),
      // A key's own limit replaces the client's limit of the same kind.
      ...kinds.flatMap(([, setting]) => {
        return entryOf(caller, { get: (owner) => this.#limitOf(owner, setting) }) ?? []
      }),
    ]
    const learned = this.#learned?.of(use) ?? null
    return limits.length === 0 && learned === null ? null : new LimitGroup(limits, learned)
  }

  /** The limit of one kind that a client or key has; undefined without one. */
  #limitOf(owner: Owner, setting: keyof MinuteSetting): OwnedLimit[] | undefined {
    const most = this.#clients.get(owner)?.[setting]
    return most === undefined ? undefined : this.#ofClient(owner, { [setting]: most })
  }

  #ofUpstream(name: string, setting: MinuteSetting & { readonly pattern?: string }): OwnedLimit[] {
    const { pattern = null } = setting
    const of = pattern === null ? 'upstream' : 'model'
    const key = pattern === null ? `upstream:${name}` : `model:${name}:${pattern}`
    return this.#limitsOf(key, { of, upstream: name, model: pattern, client: null }, setting)
  }

  #ofClient(owner: Owner, setting: MinuteSetting): OwnedLimit[] {
    const client = nameOfOwner(owner)
    return this.#limitsOf(owner, { of: 'client', upstream: null, model: null, client }, setting)
  }

  #limitsOf(of: string, owner: LimitOwner, setting: MinuteSetting): OwnedLimit[] {
    return kinds.flatMap(([kind, name]: readonly [LimitedKind, keyof MinuteSetting]) => {
      const most = setting[name]
      if (most === undefined) return []
      const key = `${of}:${kind}`
      const limit = getOrAdd(this.#limits, key, () => new OwnedLimit(key, kind, owner, most))
      limit.limit = most / (this.#gateways ?? 1)
      return [limit]
    })
  }
}
