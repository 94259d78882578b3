import type { ProviderLimit } from '../../api/health-report.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { dropOldest } from '../../lib/drop-oldest.ts'
import {
  type LimitedKind,
  type ReportedLimit,
  isLimitStatus,
  longestWindowMs,
  readLimits,
  readRetryHint,
} from './limit-headers.ts'

/** The upstream, model and key of reported limits. */
export interface LimitedUse {
  readonly upstream: string
  readonly model: string | null
  /** Fingerprint of the client's key that was sent; null for the gateway's own key, or none. */
  readonly key: string | null
}

/** The limits that one answer reported. */
export interface SeenLimit {
  readonly limits: readonly ReportedLimit[]
  /** The wait that a 429 or 529 asks for, in ms; null without one, and for any other answer. */
  readonly waitMs: number | null
  readonly isRefusal: boolean
  /** True if the provider as a whole has no room (529). */
  readonly isOverload: boolean
}

interface SeenUse extends LimitedUse {
  readonly limits: Map<string, ReportedLimit & { readonly seenAtMs: number }>
  /** The end of the wait that a refusal asked for; 0 without one. */
  waitUntilMs: number
  waitSeenAtMs: number
}

/** Most combinations of upstream, model and key; the one with the oldest report is dropped first. */
const mostUses = 100
/** Limits without a report for this time are dropped. */
const forgottenAfterMs = 3_600_000
/** Most limits of one combination. */
const mostLimits = 16

/** The newest limits that providers reported, by upstream, model and key. Times are Unix milliseconds. */
export class SeenLimits {
  readonly #byUse = new Map<string, SeenUse>()

  /** Notes the limits of an answer for which {@link reportsLimits} is true. `nowMs` is Unix time. */
  note(use: LimitedUse, { status, headers }: ResponseHead, nowMs: number): SeenLimit {
    const isRefusal = isLimitStatus(status)
    const limits = readLimits(headers, nowMs).map((limit) => this.#withLongestWindow(use, limit))
    const afterMs = isRefusal ? readRetryHint(headers, nowMs).afterMs : null
    const waitMs = afterMs !== null && afterMs <= longestWindowMs ? afterMs : null
    if (limits.length > 0 || waitMs !== null) this.#remember(use, limits, waitMs, nowMs)
    return { limits, waitMs, isRefusal, isOverload: status === 529 }
  }

  /** All limits for `/health`; the newest report comes last. */
  report(nowMs: number): readonly ProviderLimit[] {
    const reported: ProviderLimit[] = []
    for (const entry of this.#byUse.values()) {
      const { upstream, model, key, waitUntilMs, waitSeenAtMs } = entry
      const use = { upstream, model, key }
      for (const limit of entry.limits.values())
        if (nowMs - limit.seenAtMs < forgottenAfterMs) reported.push({ ...use, ...figures(limit, nowMs) })
      if (waitUntilMs <= nowMs) continue
      const wait = { kind: 'wait', window_s: null, limit: null, remaining: 0 } as const
      reported.push({ ...use, ...wait, reset_at: iso(waitUntilMs), seen_at: iso(waitSeenAtMs) })
    }
    return reported
  }

  /** A limit whose reset was more than a minute ahead before is no limit a minute, also when its reset is near. */
  #withLongestWindow(use: LimitedUse, limit: ReportedLimit): ReportedLimit {
    const known = this.#byUse.get(keyOf(use))?.limits
    if (known === undefined || limit.limit === null) return limit
    let { windowMs } = limit
    for (const [of, other] of known) {
      if (other.kind !== limit.kind || other.limit !== limit.limit) continue
      if (other.windowMs < windowMs) known.delete(of)
      windowMs = Math.max(windowMs, other.windowMs)
    }
    return { ...limit, windowMs }
  }

  #remember(use: LimitedUse, limits: readonly ReportedLimit[], waitMs: number | null, nowMs: number): void {
    const key = keyOf(use)
    const existing = this.#byUse.get(key)
    const entry: SeenUse = existing ?? { ...use, limits: new Map(), waitUntilMs: 0, waitSeenAtMs: 0 }
    // The newest report comes last.
    this.#byUse.delete(key)
    this.#byUse.set(key, entry)
    for (const limit of limits) {
      const of = `${limit.kind} ${limit.windowMs}`
      const { limit: most = limit.limit } = limit.limit === null ? (entry.limits.get(of) ?? {}) : {}
      if (entry.limits.size < mostLimits || entry.limits.has(of))
        entry.limits.set(of, { ...limit, limit: most, seenAtMs: nowMs })
    }
    if (waitMs !== null) {
      entry.waitUntilMs = nowMs + waitMs
      entry.waitSeenAtMs = nowMs
    }
    dropOldest(this.#byUse, mostUses)
  }
}

/** The limit that a refusal most likely met: the one with the smallest share left; null if none was reported. */
export function metLimit({ limits }: SeenLimit): LimitedKind | null {
  let closest: LimitedKind | null = null
  let least = Infinity
  for (const { kind, limit, remaining } of limits) {
    if (remaining === null) continue
    const share = remaining === 0 ? 0 : remaining / Math.max(1, limit ?? Infinity)
    if (share >= least) continue
    least = share
    closest = kind
  }
  return closest
}

/** Limit and remainder at `nowMs`. A limit is whole again at its reset, or else when its window is over. */
function figures(
  { kind, limit, remaining, resetMs, windowMs, seenAtMs }: ReportedLimit & { readonly seenAtMs: number },
  nowMs: number,
) {
  const isFull = seenAtMs + (resetMs ?? windowMs) <= nowMs
  return {
    kind,
    window_s: windowMs / 1000,
    limit,
    remaining: isFull ? limit : remaining,
    reset_at: resetMs === null ? null : iso(seenAtMs + resetMs),
    seen_at: iso(seenAtMs),
  }
}

function keyOf({ upstream, model, key }: LimitedUse): string {
  return JSON.stringify([upstream, model, key])
}

function iso(ms: number): string {
  return new Date(Math.min(ms, 8.64e15)).toISOString()
}
