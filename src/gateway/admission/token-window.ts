import type { MinuteUsage } from '../../call/call-sink.ts'
import { budgetRefusal } from './budget-refusal.ts'
import type { Owner } from './owner.ts'

/** The figures of a token budget. */
export interface TokenFigures {
  readonly dailyLimit: number
  /** Tokens of the calls that ended in the last 24 hours. */
  readonly totalUsed: number
  /** How many of them no upstream reported. */
  readonly estimated: number
  /** True if what was used before this gateway's start is among them. */
  readonly isKnown: boolean
  /** Negative when more was used than the limit. */
  readonly remaining: number
  readonly percentageUsed: number
}

/** Learns of what other gateways have to know. */
export interface TokenWatcher {
  /** A call that ended here used this. */
  readonly added: (usage: MinuteUsage) => void
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
/** Those of a clock that was set are kept, as it may be set back, until there are so many. */
const mostMinutes = 4 * windowMinutes
/** When to try again if only calls in flight stand in the way: nobody knows when they end. */
const reservedRetryS = 60

/**
 * The tokens of one owner in a sliding window of 24 hours, by the minute: the running one and the 1440 before it.
 *
 * Minutes are those of the wall clock, as the recorded calls have them. When that is set back, what was used
 * in what is now the future still counts, so that nobody gains tokens by setting a clock; when it is set
 * forward and back again, nothing is forgotten. What lies more than a day ahead is not believed.
 */
export class TokenWindow {
  readonly owner: Owner
  #dailyLimit: number
  readonly #minutes = new Map<number, UsedMinute>()
  /** The use of other gateways that share the limit. */
  readonly #elsewhere = new Map<number, UsedMinute>()
  /** The minute for which the totals hold; in every new one they are summed up afresh. */
  #totalAt = -1
  #total = 0
  #totalEstimated = 0
  /** Tokens that calls in flight here may still use. Set here alone, as are the next two. */
  reserved = 0
  #reservedElsewhere = 0
  isKnown = false
  readonly #known = Promise.withResolvers<void>()
  /** Resolves when it has been told what was used before this gateway's start. */
  readonly known: Promise<void> = this.#known.promise
  #watcher: TokenWatcher | null = null

  constructor(dailyLimit: number, owner: Owner = 'all') {
    this.#dailyLimit = dailyLimit
    this.owner = owner
  }

  /** Tokens that calls in flight may still use, with those of other gateways. */
  get reservedInAll(): number {
    return this.reserved + this.#reservedElsewhere
  }

  /** A call has used this, here or at another gateway that has told of it. */
  addTo(usage: MinuteUsage): void {
    this.#add(usage)
    this.#watcher?.added(usage)
  }

  watch(watcher: TokenWatcher | null): void {
    this.#watcher = watcher
  }

  /** Other gateways' calls in flight may use so many tokens, or have used them unknown to this one. */
  reserveElsewhere(tokens: number): void {
    this.#reservedElsewhere = tokens
  }

  /** Calls in flight may use so many more, or fewer. */
  reserve(tokens: number): void {
    if (tokens === 0) return
    this.reserved += tokens
    this.#watcher?.reserved()
  }

  /** All that counts: what `restore` takes to make a window that is like this one. */
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
    this.#known.resolve()
  }

  /** Other gateways used this in these minutes, in place of what they were thought to have used there; `isAll`, or at all. */
  learn(minutes: readonly MinuteUsage[], isAll: boolean): void {
    if (isAll) this.#elsewhere.clear()
    for (const { minute, tokens, estimated = 0 } of minutes)
      this.#elsewhere.set(minute, { minute, tokens, estimated })
    forgetFar(this.#elsewhere, minutes.at(-1)?.minute ?? 0)
    this.#totalAt = -1
    this.restore([])
  }

  /** Throws if a call that may use so many tokens is too much; 0 for one that does not say. `nowMs` is Unix time. */
  check(nowMs: number, tokens: number): void {
    const figures = this.snapshot(nowMs)
    // One that does not say how many it may use needs at least one.
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

  /** When so many of the used tokens have left. */
  #leavesAfterS(nowMs: number, tokens: number): number {
    let left = 0
    const last = this.minutes(nowMs)
      .toSorted((one, other) => one.minute - other.minute)
      .find((used) => (left += used.tokens) >= tokens)
    const leavesAtMs = ((last?.minute ?? 0) + windowMinutes + 1) * minuteMs
    return Math.max(1, Math.ceil((leavesAtMs - nowMs) / 1000))
  }
}

function forgetFar(minutes: Map<number, UsedMinute>, minute: number): void {
  if (minutes.size <= mostMinutes) return
  for (const other of minutes.keys()) if (Math.abs(other - minute) > windowMinutes) minutes.delete(other)
}
