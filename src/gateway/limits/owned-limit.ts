import type { MinuteStake } from '../admission/admission.ts'
import type { LearnedUse } from './learned-limits.ts'
import type { LimitedKind } from './limit-headers.ts'
import { MinuteLimit } from './minute-limit.ts'
import type { Tokens } from './token-estimate.ts'

/** The owner of the limit, for people. */
export interface LimitOwner {
  readonly of: 'upstream' | 'model' | 'client' | 'learned'
  /** Null for a client's. */
  readonly upstream: string | null
  /** A pattern, or a model. */
  readonly model: string | null
  /** A client's name, or the fingerprint of a key. */
  readonly client: string | null
}

/** Share of a limit of tokens that is let through: some calls use more than was estimated. */
const tokenShare = 0.99

/** A limit a minute that calls wait for. */
export class OwnedLimit extends MinuteLimit {
  /** The same in every gateway: what it was told of goes to its successor. */
  readonly key: string
  readonly kind: LimitedKind
  readonly owner: LimitOwner

  constructor(key: string, kind: LimitedKind, owner: LimitOwner, limit: number) {
    super(limit, kind === 'requests' ? 1 : tokenShare)
    this.key = key
    this.kind = kind
    this.owner = owner
  }

  amountOf({ input, output }: Tokens): number {
    if (this.kind === 'requests') return 1
    if (this.kind === 'tokens') return input + output
    return this.kind === 'input_tokens' ? input : output
  }
}

/** Until when a provider asked not to be called. */
export class ProviderPause {
  untilMs = 0
}

/** Calls that wait one behind the other for the same limits. */
export class LimitGroup {
  readonly limits: readonly OwnedLimit[]
  /** The provider's own limits; null without `--pace learn`. */
  readonly learned: LearnedUse | null
  /** The limit that its first call waited for at the last look. */
  waitsFor: OwnedLimit | ProviderPause | null = null

  constructor(set: readonly OwnedLimit[], learned: LearnedUse | null) {
    this.limits = learned === null ? set : [...set, ...learned.limits]
    this.learned = learned
  }

  /** A provider that asked not to be called counts calls. */
  get kindWaitedFor(): 'requests' | 'tokens' | null {
    const { waitsFor } = this
    if (waitsFor === null) return null
    return waitsFor instanceof ProviderPause || waitsFor.kind === 'requests' ? 'requests' : 'tokens'
  }
}

/** The count of an attempt without an answer. */
export const noTokens: Tokens = { input: 0, output: 0 }

/** The share of limits that one attempt of a call takes. */
export class LimitStake implements MinuteStake {
  readonly group: LimitGroup
  readonly #estimate: Tokens
  #chargedAtMs = 0
  /** The amount taken of each limit; empty before and after. */
  #charged: readonly (readonly [limit: OwnedLimit, amount: number])[] = []

  constructor(group: LimitGroup, estimate: Tokens) {
    this.group = group
    this.#estimate = estimate
  }

  waitMs(nowMs: number, claims: Set<object>): number {
    const { group } = this
    const stop = group.learned?.pause ?? null
    const stoppedMs = stop === null ? 0 : Math.max(0, stop.untilMs - nowMs)
    group.waitsFor = stoppedMs > 0 ? stop : null
    if (stoppedMs > 0) return stoppedMs
    let [shortestMs, longestMs] = [Infinity, 0]
    for (const limit of group.limits) {
      // A call before this one has it next.
      const isClaimed = claims.has(limit)
      const waitMs = isClaimed ? Infinity : limit.waitMs(nowMs, limit.amountOf(this.#estimate))
      if (waitMs === 0) continue
      claims.add(limit)
      shortestMs = Math.min(shortestMs, waitMs)
      if (waitMs > longestMs) group.waitsFor = limit
      longestMs = Math.max(longestMs, waitMs)
    }
    return longestMs === 0 ? 0 : shortestMs
  }

  charge(nowMs: number): void {
    this.#chargedAtMs = nowMs
    this.#charged = this.group.limits.map((limit) => [limit, limit.amountOf(this.#estimate)])
    for (const [limit, amount] of this.#charged) limit.add(nowMs, nowMs, amount)
  }

  /** It goes to its upstream, which may be a while after it was let through: it had no connection. */
  sent(nowMs: number): void {
    for (const [limit, amount] of this.#charged) limit.move(nowMs, this.#chargedAtMs, amount)
    this.#chargedAtMs = nowMs
  }

  /** It used these tokens in place of those that were taken; requests stay as they are. True if there is more room now. */
  settle(nowMs: number, used: Tokens): boolean {
    let hasRoom = false
    for (const [limit, amount] of this.#charged) {
      const more = limit.amountOf(used) - amount
      if (more !== 0) limit.correct(nowMs, this.#chargedAtMs, more)
      hasRoom ||= more < 0
    }
    this.#charged = []
    return hasRoom
  }
}
