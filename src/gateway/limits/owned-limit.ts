import type { MinuteStake } from '../admission/admission.ts'
import type { LearnedUse } from './learned-limits.ts'
import type { LimitedKind } from './limit-headers.ts'
import { MinuteLimit } from './minute-limit.ts'
import type { Tokens } from './token-estimate.ts'

/** The owner of a limit, as `/health` shows it. */
export interface LimitOwner {
  readonly of: 'upstream' | 'model' | 'client' | 'learned'
  /** Null for a client's limit. */
  readonly upstream: string | null
  /** A pattern, or a model. */
  readonly model: string | null
  /** A client's name, or the fingerprint of a key. */
  readonly client: string | null
}

/** How often (ms) a call that waits for a client's limit looks again, because calls at other upstreams use it, too. */
const recheckMs = 100
/** A waiting call that has not looked for this time (ms) waits no longer. */
const forgottenAfterMs = 5 * recheckMs

/** A call that waits for a limit. */
interface WaitingCall {
  readonly upstream: string
  readonly sinceMs: number
}

/** Share of a token limit that calls may use, because some calls use more than estimated. */
const tokenShare = 0.99

/** A limit a minute that calls wait for. */
export class OwnedLimit extends MinuteLimit {
  /** The same in every gateway, so that a successor finds the limit. */
  readonly key: string
  readonly kind: LimitedKind
  readonly owner: LimitOwner
  /** True for a pace that is derived from refusals, and grows until the next one. */
  isDerived = false
  /** The call that has waited longest, and when it last looked; null without one. */
  #first: (WaitingCall & { readonly lookedAtMs: number }) | null = null

  constructor(key: string, kind: LimitedKind, owner: LimitOwner, limit: number) {
    super(limit, kind === 'requests' ? 1 : tokenShare)
    this.key = key
    this.kind = kind
    this.owner = owner
  }

  /** True if a call at another upstream has waited longer. */
  isFirstElsewhere({ upstream, sinceMs }: WaitingCall, nowMs: number): boolean {
    const first = this.#first
    if (first === null || first.upstream === upstream || first.sinceMs >= sinceMs) return false
    return nowMs - first.lookedAtMs < forgottenAfterMs
  }

  /** Call it when a call has found no room. */
  awaits({ upstream, sinceMs }: WaitingCall, nowMs: number): void {
    const first = this.#first
    const isFresh = first !== null && nowMs - first.lookedAtMs < forgottenAfterMs
    if (!isFresh || sinceMs <= first.sinceMs) this.#first = { upstream, sinceMs, lookedAtMs: nowMs }
  }

  /** Call it when a call may go. */
  served({ upstream, sinceMs }: WaitingCall): void {
    if (this.#first?.upstream === upstream && this.#first.sinceMs === sinceMs) this.#first = null
  }

  amountOf({ input, output }: Tokens): number {
    if (this.kind === 'requests') return 1
    if (this.kind === 'tokens') return input + output
    return this.kind === 'input_tokens' ? input : output
  }
}

/** The limits that a group of calls shares. The calls of a group wait in one line. */
export class LimitGroup {
  readonly limits: readonly OwnedLimit[]
  /** The provider's own limits; null without `--pace learn`. */
  readonly learned: LearnedUse | null
  /** The limit, or the provider's pause, that the group's first call waited for at the last check. */
  waitsFor: OwnedLimit | 'pause' | null = null

  constructor(set: readonly OwnedLimit[], learned: LearnedUse | null) {
    this.limits = learned === null ? set : [...set, ...learned.limits]
    this.learned = learned
  }

  /** The kind of limit that the group waits for; a pause counts as requests. Null while it waits for none. */
  get kindWaitedFor(): 'requests' | 'tokens' | null {
    const { waitsFor } = this
    if (waitsFor === null) return null
    return waitsFor === 'pause' || waitsFor.kind === 'requests' ? 'requests' : 'tokens'
  }
}

/** The use of an attempt without an answer. */
export const noTokens: Tokens = { input: 0, output: 0 }

/** The share of limits that one attempt of a call uses. */
export class LimitStake implements MinuteStake {
  readonly group: LimitGroup
  readonly #estimate: Tokens
  readonly #call: WaitingCall
  #chargedAtMs = 0
  /** The amount charged to each limit; empty before and after the attempt. */
  #charged: readonly (readonly [limit: OwnedLimit, amount: number])[] = []

  constructor(group: LimitGroup, estimate: Tokens, call: WaitingCall) {
    this.group = group
    this.#estimate = estimate
    this.#call = call
  }

  waitMs(nowMs: number, claims: Set<object>): number {
    const { group } = this
    const pausedMs = Math.max(0, (group.learned?.pausedUntilMs ?? 0) - nowMs)
    group.waitsFor = pausedMs > 0 ? 'pause' : null
    if (pausedMs > 0) return pausedMs
    let [shortestMs, longestMs] = [Infinity, 0]
    for (const limit of group.limits) {
      // An earlier call waits for this limit.
      const isClaimed = claims.has(limit) || limit.isFirstElsewhere(this.#call, nowMs)
      const waitMs = isClaimed ? Infinity : limit.waitMs(nowMs, limit.amountOf(this.#estimate))
      if (waitMs === 0) continue
      claims.add(limit)
      limit.awaits(this.#call, nowMs)
      shortestMs = Math.min(shortestMs, limit.owner.of === 'client' ? Math.min(waitMs, recheckMs) : waitMs)
      if (waitMs > longestMs) group.waitsFor = limit
      longestMs = Math.max(longestMs, waitMs)
    }
    return longestMs === 0 ? 0 : shortestMs
  }

  charge(nowMs: number): void {
    this.#chargedAtMs = nowMs
    this.#charged = this.group.limits.map((limit) => [limit, limit.amountOf(this.#estimate)])
    for (const [limit, amount] of this.#charged) {
      limit.served(this.#call)
      limit.add(nowMs, nowMs, amount)
    }
  }

  /** Call it when the attempt is sent, which may be a while after its charge if it waited for a connection. */
  sent(nowMs: number): void {
    for (const [limit, amount] of this.#charged) limit.move(nowMs, this.#chargedAtMs, amount)
    this.#chargedAtMs = nowMs
  }

  /**
   * Charges the used tokens instead of the estimate; requests stay charged. `used` is null for an attempt that was
   * not sent, which uses nothing. Returns true if a limit now has more room.
   */
  settle(nowMs: number, used: Tokens | null): boolean {
    let hasRoom = false
    for (const [limit, amount] of this.#charged) {
      const more = (used === null ? 0 : limit.amountOf(used)) - amount
      if (more !== 0) limit.correct(nowMs, this.#chargedAtMs, more)
      hasRoom ||= more < 0
    }
    this.#charged = []
    return hasRoom
  }
}
