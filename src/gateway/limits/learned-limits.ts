import { dropOldest } from '../../lib/drop-oldest.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { OwnedLimit, ProviderPause } from './owned-limit.ts'
import type { LimitedKind } from './limit-headers.ts'
import type { LimitedUse, SeenLimit } from './seen-limits.ts'

const minuteMs = 60_000
/** A refusal that asks for a longer wait is about no limit a minute: its client had better hear it. */
const longestPauseMs = 10 * minuteMs
/** Models and keys at upstreams; the one that was called first is forgotten first. */
const mostUses = 500

/** A pace that follows from refusals alone is a little below what was seen. */
const carefulShare = 0.97
/** The pace grows from there: slowly at first, tenfold within a quarter of an hour, as the refusal may have had another cause. */
const growthIn = (minutes: number): number => 1 + 0.06 * minutes + 0.003 * minutes ** 3
/** Calls that were on their way together are refused together. */
const sameRefusalMs = 2000
/** A shorter time proves no pace. */
const shortestSpanMs = 10_000

/** The total of tokens when a provider refused a call, and the pace since then. */
interface Refusal {
  readonly atMs: number
  readonly total: number
  readonly limit: number
}

/** The learned limits of a provider for one model and key. */
export class LearnedUse {
  readonly #use: LimitedUse
  readonly pause = new ProviderPause()
  /** The limits of requests and tokens are infinite until something is learned. */
  limits: readonly OwnedLimit[] = []
  /** The last two refusals of a provider that reports no limit. */
  #refused: Refusal | null = null
  #refusedBefore: Refusal | null = null
  #isReported = false

  constructor(use: LimitedUse) {
    this.#use = use
    this.#ofKind('requests')
    this.#ofKind('tokens')
  }

  /** `gateways`: so many divide the limits. */
  applySeen({ limits, waitMs, isRefusal, isOverload }: SeenLimit, nowMs: number, gateways: number): void {
    for (const { kind, limit: most, remaining, resetMs, windowMs } of limits) {
      if (most === null || most === 0 || windowMs !== minuteMs) continue
      this.#isReported = true
      const limit = this.#ofKind(kind)
      limit.limit = most / gateways
      // Others may use the same key.
      if (remaining !== null && gateways === 1) limit.correctTo(nowMs, most - remaining, resetMs ?? minuteMs)
    }
    if (!isRefusal) return
    if (waitMs !== null && waitMs <= longestPauseMs)
      this.pause.untilMs = Math.max(this.pause.untilMs, nowMs + waitMs)
    if (!this.#isReported && !isOverload) this.#slowDown(nowMs)
  }

  /** The last refusal had nothing to do with how much was used. */
  forgive(): void {
    this.pause.untilMs = 0
    this.#refused = this.#refusedBefore
    if (!this.#isReported) this.#ofKind('tokens').limit = this.#refused?.limit ?? Infinity
  }

  /** A gateway before this one knows this limit. */
  restore(kind: LimitedKind, most: number): OwnedLimit {
    const limit = this.#ofKind(kind)
    limit.limit = most
    return limit
  }

  /** A pace that only refusals have told may be too slow: it grows until the next one. */
  grow(nowMs: number): void {
    if (this.#isReported || this.#refused === null) return
    const minutes = (nowMs - this.#refused.atMs) / minuteMs
    this.#ofKind('tokens').limit = this.#refused.limit * growthIn(minutes)
  }

  /**
   * The provider has no room at each refusal, so what was used from one to the next is what it allows in that time. Before the
   * first one, it had room for a minute's worth at once, besides what it allows as time passes.
   */
  #slowDown(nowMs: number): void {
    const tokens = this.#ofKind('tokens')
    const { total } = tokens
    const before = this.#refused
    if (before !== null && nowMs - before.atMs < sameRefusalMs) return
    let limit: number
    if (before === null) {
      const [[sinceMs] = [0]] = tokens.uses(nowMs)
      limit = tokens.used(nowMs) / (1 + sinceMs / minuteMs)
    } else if (nowMs - before.atMs < shortestSpanMs) limit = before.limit * carefulShare
    else limit = ((total - before.total) / (nowMs - before.atMs)) * minuteMs
    if (limit <= 0) return
    tokens.limit = limit * carefulShare
    this.#refusedBefore = before
    this.#refused = { atMs: nowMs, total, limit: tokens.limit }
  }

  #ofKind(kind: LimitedKind): OwnedLimit {
    const known = this.limits.find((each) => each.kind === kind)
    if (known !== undefined) return known
    const { upstream, model, key } = this.#use
    const of = `learned:${JSON.stringify([upstream, model, key])}:${kind}`
    const limit = new OwnedLimit(of, kind, { of: 'learned', upstream, model, client: key }, Infinity)
    this.limits = [...this.limits, limit]
    return limit
  }
}

/** The limits that providers report, applied as if a person had set them. */
export class LearnedLimits {
  readonly #uses = new Map<string, LearnedUse>()

  of(use: LimitedUse): LearnedUse {
    const key = JSON.stringify([use.upstream, use.model, use.key])
    const learned = getOrAdd(this.#uses, key, () => new LearnedUse(use))
    dropOldest(this.#uses, mostUses)
    return learned
  }

  limits(): readonly OwnedLimit[] {
    return Array.from(this.#uses.values()).flatMap(({ limits }) =>
      limits.filter(({ limit }) => limit !== Infinity),
    )
  }
}
