import type { ClientUsage, MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { reportFault } from '../../lib/fault.ts'
import type { Caller } from './admission.ts'
import { budgetUnknown } from './budget-refusal.ts'
import { type Owner, clientOwner, entryOf, isUpstream, nameOfOwner, upstreamOwner } from './owner.ts'
import { TokenWindow, windowMinutes } from './token-window.ts'

const minuteMs = 60_000
/** Longest wait of a call until the past use is known. */
const waitLimitMs = 10_000

export interface TokenWindowsOptions {
  readonly clock: Clock
  /** True if calls beyond the budget are refused; false if they are only counted. */
  readonly rejects: boolean
  readonly tokenLimit: number
  /** The limit of all gateways that share; null without sharing. */
  readonly sharedLimit: number | null
  /** Reads the past use; null if it cannot be read. */
  readonly past: {
    usageByMinute(fromMinute: number, sinceMs: number): Promise<readonly MinuteUsage[] | null>
    /** Reads the use of clients and keys (`of`) and of upstreams (`at`) by calls that ended before an instant. */
    usageOfClients(
      of: readonly string[],
      at: readonly string[],
      endedBeforeMs: number,
    ): Promise<readonly ClientUsage[] | null>
  }
  /** Names that people gave to keys, by fingerprint. */
  readonly keyNames: () => ReadonlyMap<string, string>
}

/** The use that a gateway hands over to its successor. */
export interface HandedUse {
  /** The use of calls that ended before. */
  readonly used: readonly MinuteUsage[]
  /**
   * If not null, `used` has only calls that began since this time (ms since the Unix epoch), and the
   * database has earlier calls. Null if `used` is complete.
   */
  readonly usedSinceMs: number | null
  /** The use of clients, keys and upstreams with own budgets. */
  readonly usedByOwners: readonly { readonly owner: string; readonly used: readonly MinuteUsage[] }[]
}

/**
 * The tokens of the last 24 hours: of all calls, and of each client, key and upstream with an own limit. A call is
 * checked when it arrives, so that it does not wait in vain. When it gets its slot, it reserves the tokens that it
 * may use. So calls in flight together cannot use more than is left, if their requests set a bound.
 */
export class TokenWindows {
  readonly #options: TokenWindowsOptions
  /** Tokens of all calls that this gateway knows. */
  readonly all: TokenWindow
  /** Tokens of all calls of all gateways that share a limit; the same window as `all` if none do. */
  readonly acrossGateways: TokenWindow
  /** The windows in which every call counts. */
  readonly #always: readonly TokenWindow[]
  /** The windows of clients, keys and upstreams with own limits. */
  readonly #byOwner = new Map<string, TokenWindow>()
  /** Calls that began since then count without the database: ms since the Unix epoch. */
  #sinceMs: number

  constructor(options: TokenWindowsOptions) {
    const { tokenLimit, sharedLimit } = options
    this.#options = options
    this.all = new TokenWindow(tokenLimit)
    this.acrossGateways = sharedLimit === null ? this.all : new TokenWindow(sharedLimit)
    this.#always = [this.acrossGateways]
    this.#sinceMs = options.clock.wallTime()
  }

  /** True if calls beyond the budget are refused; false if they are only counted. */
  get rejects(): boolean {
    return this.#options.rejects
  }

  /** The windows in which a call counts: all calls, its key or else its client, and its upstream. */
  of(caller: Caller, upstreamName: string | null): readonly TokenWindow[] {
    if (this.#byOwner.size === 0) return this.#always
    const ofCaller = entryOf(caller, this.#byOwner)
    const ofUpstream = upstreamName === null ? undefined : this.#byOwner.get(upstreamOwner(upstreamName))
    return [...this.#always, ofCaller, ofUpstream].filter((window) => window !== undefined)
  }

  /**
   * Throws a `Failure` if one of the windows has too little left for `tokens`. While the past use is unknown, returns a promise
   * that rejects with this failure, with `budget_unknown` after 10 s, or with the signal's reason.
   */
  check(
    windows: readonly TokenWindow[],
    tokens: number,
    waiter: { readonly signal: AbortSignal },
  ): Promise<void> | null {
    if (!this.#options.rejects) return null
    if (!windows.every(({ isKnown }) => isKnown)) return this.#checkOnceKnown(windows, tokens, waiter.signal)
    this.#check(windows, tokens)
    return null
  }

  /** The window of an upstream, if it has one. */
  at(upstreamName: string): readonly TokenWindow[] {
    const window = this.#byOwner.get(upstreamOwner(upstreamName))
    return window === undefined ? [] : [window]
  }

  /** True if an upstream's own window has enough left, as far as that is known. */
  hasEnough(upstreamName: string, tokens: number): boolean {
    try {
      if (this.#options.rejects) this.#check(this.at(upstreamName), tokens)
      return true
    } catch {
      return false
    }
  }

  /** Reserves tokens for a call until disposed; `null` if calls are only counted. Throws a `Failure` if too few are left. */
  reserve(windows: readonly TokenWindow[], tokens: number): Disposable | null {
    if (!this.#options.rejects) return null
    this.#check(windows, tokens)
    let reserved = tokens
    for (const window of windows) window.reserve(tokens)
    return {
      [Symbol.dispose]: () => {
        for (const window of windows) window.reserve(-reserved)
        reserved = 0
      },
    }
  }

  /** Adds the reported and the estimated tokens of a call that ended. */
  add(windows: readonly TokenWindow[], reported: number, estimated: number): void {
    const minute = Math.floor(this.#options.clock.wallTime() / minuteMs)
    const owners = windows.length === 1 ? undefined : windows.slice(1).map(({ owner }) => owner)
    const usage = { minute, tokens: reported + estimated, estimated, owners }
    for (const window of windows) window.addTo(usage)
    if (this.acrossGateways !== this.all) this.all.addTo(usage)
  }

  /** Adds the use of a call of another gateway. */
  addElsewhere(usage: MinuteUsage): void {
    this.all.addTo(usage)
    for (const owner of usage.owners ?? []) this.#byOwner.get(owner)?.addTo(usage)
  }

  /** Tokens that an owner with an own limit has used; null while unknown. */
  usedBy(owner: Owner): number | null {
    const window = this.#byOwner.get(owner)
    return window?.isKnown === true ? window.snapshot(this.#options.clock.wallTime()).totalUsed : null
  }

  /** The use so far, for the successor. */
  handover(): HandedUse {
    const nowMs = this.#options.clock.wallTime()
    const usedByOwners = Array.from(this.#byOwner.values()).flatMap((window) =>
      window.isKnown ? [{ owner: window.owner, used: window.minutes(nowMs) }] : [],
    )
    const usedSinceMs = this.all.isKnown ? null : this.#sinceMs
    return { used: this.all.minutes(nowMs), usedSinceMs, usedByOwners }
  }

  /**
   * Sets the limits of clients, keys and upstreams. `handed` is the use that a predecessor knows; the use of other owners is
   * read from the database.
   */
  setLimits(limits: ReadonlyMap<Owner, number>, handed: HandedUse['usedByOwners']): void {
    for (const owner of this.#byOwner.keys()) if (!limits.has(owner as Owner)) this.#byOwner.delete(owner)
    const unknown: TokenWindow[] = []
    for (const [owner, limit] of limits) {
      const existing = this.#byOwner.get(owner)
      existing?.setLimit(limit)
      if (existing !== undefined) continue
      const added = new TokenWindow(limit, owner)
      this.#byOwner.set(owner, added)
      const used = handed.find((use) => use.owner === owner)?.used
      if (used === undefined) unknown.push(added)
      else added.restore(used)
    }
    if (unknown.length > 0) this.#read(unknown).catch(reportFault)
  }

  /** Adds the use before this gateway's start, from a predecessor and from the database, however long that takes. */
  async restore(handed: HandedUse | null): Promise<void> {
    const { clock, past } = this.#options
    this.#sinceMs = handed?.usedSinceMs ?? this.#sinceMs
    for (const minute of handed?.used ?? []) this.all.addTo(minute)
    const minuteNow = Math.floor(clock.wallTime() / minuteMs)
    const isComplete = handed !== null && handed.usedSinceMs === null
    // Calls since then are excluded, because they are counted here and may already have rows.
    const read = isComplete ? [] : await past.usageByMinute(minuteNow - windowMinutes, this.#sinceMs)
    if (read !== null) this.all.restore(read)
  }

  #check(windows: readonly TokenWindow[], tokens: number): void {
    const nowMs = this.#options.clock.wallTime()
    for (const window of windows) window.check(nowMs, tokens)
  }

  async #checkOnceKnown(windows: readonly TokenWindow[], tokens: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const isLate = this.#options.clock.delay(waitLimitMs, AbortSignal.any([signal, over.signal]))
    await Promise.race([Promise.all(windows.map(({ ready }) => ready)), isLate]).finally(() => over.abort())
    const unknown = windows.find(({ isKnown }) => !isKnown)
    if (unknown !== undefined) throw budgetUnknown(unknown.owner)
    this.#check(windows, tokens)
  }

  /** Reads the past use of these windows; later calls are added as they end. */
  async #read(windows: readonly TokenWindow[]): Promise<void> {
    const { past, clock, keyNames } = this.#options
    const names = keyNames()
    const owners = new Set(windows.map(({ owner }) => owner))
    const keys = [...names].filter(([, name]) => owners.has(clientOwner(name))).map(([key]) => key)
    const of = [...owners].filter((owner) => !isUpstream(owner)).map(nameOfOwner)
    const at = [...owners].filter(isUpstream).map(nameOfOwner)
    const past24h = await past.usageOfClients([...of, ...keys], at, clock.wallTime())
    if (past24h === null) return
    const minutes = new Map(windows.map((window) => [window, [] as MinuteUsage[]]))
    for (const usage of past24h) {
      const { keyFingerprint, upstreamName } = usage
      const client = usage.client ?? (keyFingerprint === null ? null : (names.get(keyFingerprint) ?? null))
      for (const window of this.of({ client, keyFingerprint }, upstreamName)) minutes.get(window)?.push(usage)
    }
    for (const [window, used] of minutes) window.restore(used)
  }
}
