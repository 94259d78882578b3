import type { MinuteUsage } from '../../call/call-sink.ts'
import { budgetRefusal } from './budget-refusal.ts'
import type { Owner } from './owner.ts'

/** The figures of a token budget. */
export interface TokenFigures {
  readonly dailyLimit: number
  /** Tokens of the calls that ended in the last 24 hours. */
  readonly totalUsed: number
  /** Tokens among these that no upstream reported. */
  readonly estimated: number
  /** True if the use before this gateway's start is included. */
  readonly isKnown: boolean
  /** Limit minus used tokens; negative if more was used. */
  readonly remaining: number
  readonly percentageUsed: number
}

/** Gets changes of the window that other gateways must know. */
export interface TokenWatcher {
  /** A call that ended here used this. */
  readonly added?: (usage: MinuteUsage) => void
  /** Sets the tokens that calls in flight here may use. */
  readonly reserved: () => void
}

interface UsedMinute {
  minute: number
  tokens: number
  estimated: number
}

const minuteMs = 60_000
export const windowMinutes = 24 * 60
/** Most minutes that are kept. Minutes in the future stay after the clock was set, because it may be set again. */
const mostMinutes = 4 * windowMinutes
/** `Retry-After` in seconds if calls in flight fill the budget, because their end is unknown. */
const reservedRetryS = 60

/**
 * The tokens of one owner in a sliding window of 24 hours: the running minute and the 1440 minutes before it,
 * by the wall clock. If the clock is set back, use in its future still counts, so that setting a clock gains
 * no tokens; only use over a day ahead does not count. If the clock is set forward and back again, nothing is
 * lost.
 */
export class TokenWindow {
  readonly owner: Owner
  #dailyLimit: number
  readonly #minutes = new Map<number, UsedMinute>()
  /** The use of other gateways that share the limit. */
  readonly #elsewhere = new Map<number, UsedMinute>()
  /** The minute of the totals; each new minute sums them up again. */
  #totalAt = -1
  #total = 0
  #totalEstimated = 0
  /** Tokens that calls in flight here may still use. Only this class sets it. */
  reserved = 0
  #reservedElsewhere = 0
  isKnown = false
  readonly #ready = Promise.withResolvers<void>()
  /** Resolves when the use before this gateway's start is known. */
  readonly ready: Promise<void> = this.#ready.promise
  #watcher: TokenWatcher | null = null

  constructor(dailyLimit: number, owner: Owner = 'all') {
    this.#dailyLimit = dailyLimit
    this.owner = owner
  }

  /** Tokens that calls in flight may still use, with those of other gateways. */
  get reservedInAll(): number {
    return this.reserved + this.#reservedElsewhere
  }

  /** Adds the use of a call, here or reported by another gateway. */
  addTo(usage: MinuteUsage): void {
    this.#add(usage)
    this.#watcher?.added?.(usage)
  }

  watch(watcher: TokenWatcher | null): void {
    this.#watcher = watcher
  }

  /** Sets the tokens that calls of other gateways may use, or have used without a report yet. */
  reserveElsewhere(tokens: number): void {
    this.#reservedElsewhere = tokens
  }

  /** Changes the tokens that calls in flight may use: more, or fewer if negative. */
  reserve(tokens: number): void {
    if (tokens === 0) return
    this.reserved += tokens
    this.#watcher?.reserved()
  }

  /** The minutes that count. `restore` makes an equal window of them. */
  minutes(nowMs: number): readonly Readonly<UsedMinute>[] {
    const now = Math.floor(nowMs / minuteMs)
    const all = [...this.#minutes.values(), ...this.#elsewhere.values()]
    return all.filter(({ minute }) => Math.abs(minute - now) <= windowMinutes)
  }

  /**
   * Adds the use before this gateway's start; call it once. `addTo` gets other calls, so the order
   * does not matter.
   */
  restore(minutes: readonly MinuteUsage[]): void {
    for (const usage of minutes) this.#add(usage)
    this.isKnown = true
    this.#ready.resolve()
  }

  /** Sets the use of other gateways in these minutes. With `isAll`, their use in all other minutes is 0. */
  learn(minutes: readonly MinuteUsage[], isAll: boolean): void {
    if (isAll) this.#elsewhere.clear()
    for (const { minute, tokens, estimated = 0 } of minutes)
      this.#elsewhere.set(minute, { minute, tokens, estimated })
    forgetFar(this.#elsewhere, minutes.at(-1)?.minute ?? 0)
    this.#totalAt = -1
    this.restore([])
  }

  /** Throws a `Failure` if too little is left for a call that may use `tokens` (0: unknown). `nowMs` is Unix time. */
  check(nowMs: number, tokens: number): void {
    const figures = this.snapshot(nowMs)
    // A call without a bound needs at least one token.
    const needed = Math.max(1, tokens)
    const reserved = this.reservedInAll
    if (figures.totalUsed + reserved + needed <= figures.dailyLimit) return
    const retryAfterS = this.#retryAfterS(nowMs, figures, needed)
    throw budgetRefusal({ ...figures, reserved, retryAfterS }, tokens, this.owner)
  }

  setLimit(dailyLimit: number): void {
    this.#dailyLimit = dailyLimit
  }

  snapshot(nowMs: number): TokenFigures {
    const totalUsed = this.#used(nowMs)
    const limit = this.#dailyLimit
    return {
      dailyLimit: limit,
      totalUsed,
      estimated: this.#totalEstimated,
      isKnown: this.isKnown,
      remaining: limit - totalUsed,
      percentageUsed: limit > 0 ? (totalUsed / limit) * 100 : 100,
    }
  }

  #add({ minute, tokens, estimated = 0 }: MinuteUsage): void {
    if (!(tokens > 0)) return
    const used = this.#minutes.get(minute) ?? { minute, tokens: 0, estimated: 0 }
    used.tokens += tokens
    used.estimated += estimated
    this.#minutes.set(minute, used)
    if (Math.abs(minute - this.#totalAt) <= windowMinutes) {
      this.#total += tokens
      this.#totalEstimated += estimated
    } else this.#totalAt = -1
    forgetFar(this.#minutes, minute)
  }

  #used(nowMs: number): number {
    const now = Math.floor(nowMs / minuteMs)
    if (now === this.#totalAt) return this.#total
    this.#total = 0
    this.#totalEstimated = 0
    for (const { tokens, estimated } of this.minutes(nowMs)) {
      this.#total += tokens
      this.#totalEstimated += estimated
    }
    this.#totalAt = now
    return this.#total
  }

  #retryAfterS(nowMs: number, { totalUsed, dailyLimit }: TokenFigures, needed: number): number | null {
    if (needed > dailyLimit) return null
    const tooMany = totalUsed + needed - dailyLimit
    return tooMany > 0 ? this.#leavesAfterS(nowMs, tooMany) : reservedRetryS
  }

  /** Whole seconds until `tokens` of the used tokens have left the window. */
  #leavesAfterS(nowMs: number, tokens: number): number {
    let freedTokens = 0
    const last = this.minutes(nowMs)
      .toSorted((a, b) => a.minute - b.minute)
      .find((used) => (freedTokens += used.tokens) >= tokens)
    const leavesAtMs = ((last?.minute ?? 0) + windowMinutes + 1) * minuteMs
    return Math.max(1, Math.ceil((leavesAtMs - nowMs) / 1000))
  }
}

function forgetFar(minutes: Map<number, UsedMinute>, minute: number): void {
  if (minutes.size <= mostMinutes) return
  for (const key of minutes.keys()) if (Math.abs(key - minute) > windowMinutes) minutes.delete(key)
}
