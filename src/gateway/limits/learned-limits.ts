import { dropOldest } from '../../lib/drop-oldest.ts'
import type { LearnedLimit } from '../../control/control-messages.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { OwnedLimit } from './owned-limit.ts'
import type { LimitedKind } from './limit-headers.ts'
import type { LimitedUse, SeenLimit } from './seen-limits.ts'

const minuteMs = 60_000
/** A longer wait is not about a limit a minute, so the refusal goes to the client. */
const longestPauseMs = 10 * minuteMs
/** Most combinations of upstream, model and key; the oldest is dropped first. */
const mostUses = 500

/** A pace that is derived from refusals is this share of the measured pace. */
const carefulShare = 0.97
/**
 * The factor by which that pace grows: slow at first, tenfold within 15 minutes, because the refusal may have
 * had another cause.
 */
const growthIn = (minutes: number): number => 1 + 0.06 * minutes + 0.003 * minutes ** 3
/** Refusals within this time (ms) count as one, because calls that were sent together are refused together. */
const sameRefusalMs = 2000
/** A pace is measured over at least this time (ms). */
const shortestSpanMs = 10_000

/** After fewer calls than this in a minute, a refusal has another cause than their pace. */
const fewestCalls = 3

/** The total of tokens when a provider refused a call, and the pace since then. */
interface Refusal {
  readonly atMs: number
  readonly total: number
  readonly limit: number
}

/** The learned limits of a provider for one model and key. */
export class LearnedUse {
  readonly #use: LimitedUse
  /** The end of the pause that the provider asked for, by `retry-after` (monotonic ms). */
  pausedUntilMs = 0
  /** The limits of requests and tokens are infinite until something is learned. */
  limits: readonly OwnedLimit[] = []
  /** The last refusals of a provider that reports no limit; null without one. */
  #refused: Refusal | null = null
  #refusedBefore: Refusal | null = null
  #isReported = false

  constructor(use: LimitedUse) {
    this.#use = use
    this.#ofKind('requests')
    this.#ofKind('tokens')
  }

  /** Applies an answer's limits. `gateways` is the number of gateways that divide them. */
  applySeen({ limits, waitMs, isRefusal, isOverload }: SeenLimit, nowMs: number, gateways: number): void {
    for (const { kind, limit: most, remaining, resetMs, windowMs } of limits) {
      if (most === null || most === 0 || windowMs !== minuteMs) continue
      this.#isReported = true
      const limit = this.#ofKind(kind)
      limit.limit = most / gateways
      // Without other gateways, other programs with the same key have used the rest.
      if (remaining !== null && gateways === 1) limit.correctTo(nowMs, most - remaining, resetMs ?? minuteMs)
    }
    if (!isRefusal) return
    if (waitMs !== null && waitMs <= longestPauseMs)
      this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + waitMs)
    if (!this.#isReported && !isOverload) this.#slowDown(nowMs)
  }

  /** Takes back the last refusal, which was not caused by use. */
  forgive(): void {
    this.pausedUntilMs = 0
    this.#refused = this.#refusedBefore
    if (this.#isReported) return
    const tokens = this.#ofKind('tokens')
    tokens.limit = this.#refused?.limit ?? Infinity
    tokens.isDerived = this.#refused !== null
  }

  /** Sets a limit and a pause that the predecessor has learned. */
  restore({ kind, limit: most, isDerived, pausedMs }: LearnedLimit, nowMs: number): OwnedLimit {
    const limit = this.#ofKind(kind)
    limit.limit = most ?? Infinity
    limit.isDerived = isDerived
    this.#isReported ||= most !== null && !isDerived
    this.pausedUntilMs = nowMs + pausedMs
    return limit
  }

  /** Raises a pace that is derived from refusals, until the next refusal. */
  grow(nowMs: number): void {
    const tokens = this.#ofKind('tokens')
    if (this.#isReported || !tokens.isDerived) return
    // The refusal of a pace that was handed over is unknown.
    this.#refused ??= { atMs: nowMs, total: tokens.total, limit: tokens.limit }
    const minutes = (nowMs - this.#refused.atMs) / minuteMs
    tokens.limit = this.#refused.limit * growthIn(minutes)
  }

  /**
   * Derives a pace from refusals. At a refusal the provider has no room, so the use between two refusals is
   * what it allows in that time; after a rest, the use of the last minute says more. Then it has allowed a
   * minute's worth at once, in addition to its pace.
   */
  #slowDown(nowMs: number): void {
    const tokens = this.#ofKind('tokens')
    const { total } = tokens
    const before = this.#refused
    if (before !== null && nowMs - before.atMs < sameRefusalMs) return
    if (this.#ofKind('requests').used(nowMs) < fewestCalls) return
    const [[sinceMs] = [0]] = tokens.uses(nowMs)
    let limit = tokens.used(nowMs) / (1 + sinceMs / minuteMs)
    if (before !== null && nowMs - before.atMs < shortestSpanMs) limit = before.limit * carefulShare
    else if (before !== null)
      limit = Math.max(limit, ((total - before.total) / (nowMs - before.atMs)) * minuteMs)
    if (limit <= 0) return
    tokens.limit = limit * carefulShare
    tokens.isDerived = true
    this.#refusedBefore = before
    this.#refused = { atMs: nowMs, total, limit: tokens.limit }
  }

  #ofKind(kind: LimitedKind): OwnedLimit {
    const existing = this.limits.find((candidate) => candidate.kind === kind)
    if (existing !== undefined) return existing
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

  /** The known limits, and all limits of uses that pause beyond a time (monotonic ms). */
  limits(pausedAtMs = Infinity): readonly OwnedLimit[] {
    return Array.from(this.#uses.values()).flatMap(({ limits, pausedUntilMs }) =>
      limits.filter(({ limit }) => limit !== Infinity || pausedUntilMs > pausedAtMs),
    )
  }
}
