import type { MinuteUsage } from '../../call/call-sink.ts'

/** The figures of the token budget. */
export interface BudgetFigures {
  readonly dailyLimit: number
  /** Tokens of the calls that ended in the last 24 hours. */
  readonly totalUsed: number
  /** Negative when more was used than the limit. */
  readonly remaining: number
  readonly percentageUsed: number
}

/** Why a call is more than the budget still allows. */
export interface BudgetShortage extends BudgetFigures {
  /** Tokens that calls in flight may still use. */
  readonly reserved: number
  /** Whole seconds until enough tokens have left the window, at least one. */
  readonly retryAfterS: number
}

const minuteMs = 60_000
const windowMinutes = 24 * 60
/** A day before now, a day after it, and the running minute: no two that count can share a bucket. */
const bucketCount = 2 * windowMinutes + 1
/** When to try again where only calls in flight stand in the way: nobody knows when they end. */
const reservedRetryS = 60

/**
 * The sliding window of 24 hours, in buckets of a minute: it holds the running minute and the 1440 before it.
 *
 * Buckets are labelled by the wall clock, as the recorded calls are. Where that is set back, what was used
 * in what is now the future still counts, so that nobody gains tokens by setting a clock; where it is set
 * forward and back again, nothing is forgotten. What lies more than a day ahead is not believed.
 */
export class Budget {
  #dailyLimit: number
  readonly #minutes = new Int32Array(bucketCount).fill(-1)
  readonly #tokens = new Float64Array(bucketCount)
  /** The minute for which the total holds; in every new one it is summed up afresh. */
  #totalAt = -1
  #total = 0
  #reserved = 0
  #watcher: ((usage: MinuteUsage) => void) | null = null

  constructor(dailyLimit: number) {
    this.#dailyLimit = dailyLimit
  }

  /** A call ended at `nowMs` (Unix epoch) and used that many tokens. */
  add(nowMs: number, tokens: number): void {
    this.addTo({ minute: Math.floor(nowMs / minuteMs), tokens })
  }

  /** As `add`, for a call that another gateway has told of. */
  addTo(usage: MinuteUsage): void {
    this.#put(usage.minute, usage.tokens)
    this.#watcher?.(usage)
  }

  /** Calls back with all that is added from now on. */
  watch(watcher: ((usage: MinuteUsage) => void) | null): void {
    this.#watcher = watcher
  }

  /** All that counts: what `restore` takes to make a budget that is like this one. */
  minutes(nowMs: number): readonly MinuteUsage[] {
    const now = Math.floor(nowMs / minuteMs)
    const buckets = Array.from(this.#minutes, (minute, bucket) => ({
      minute,
      tokens: this.#tokens[bucket] ?? 0,
    }))
    return buckets.filter(({ minute, tokens }) => tokens > 0 && Math.abs(minute - now) <= windowMinutes)
  }

  /**
   * What the calls of before this gateway's start used. They are others than those given to `add`, so it
   * does not matter which comes first; it is to be called once.
   */
  restore(minutes: readonly MinuteUsage[]): void {
    for (const { minute, tokens } of minutes) {
      const held = this.#minutes[minute % bucketCount] ?? -1
      if (held <= minute) this.#put(minute, tokens)
    }
  }

  /** Tokens that a call in flight may use, until it has ended and what it did use has been added. */
  reserve(tokens: number): Disposable {
    this.#reserved += tokens
    let held = tokens
    return {
      [Symbol.dispose]: () => {
        this.#reserved -= held
        held = 0
      },
    }
  }

  /**
   * Why a call that may use so many tokens is too much, or `null` where it is not. One that does not say how
   * many needs at least one.
   */
  shortage(nowMs: number, tokens: number): BudgetShortage | null {
    const figures = this.snapshot(nowMs)
    const needed = Math.max(1, tokens)
    if (figures.totalUsed + this.#reserved + needed <= figures.dailyLimit) return null
    const tooMany = figures.totalUsed + needed - figures.dailyLimit
    const retryAfterS = tooMany > 0 ? this.#leavesAfterS(nowMs, tooMany) : reservedRetryS
    return { ...figures, reserved: this.#reserved, retryAfterS }
  }

  setLimit(dailyLimit: number): void {
    this.#dailyLimit = dailyLimit
  }

  snapshot(nowMs: number): BudgetFigures {
    const totalUsed = this.#used(Math.floor(nowMs / minuteMs))
    const limit = this.#dailyLimit
    return {
      dailyLimit: limit,
      totalUsed,
      remaining: limit - totalUsed,
      percentageUsed: limit > 0 ? (totalUsed / limit) * 100 : 100,
    }
  }

  #put(minute: number, tokens: number): void {
    if (!(tokens > 0)) return
    const bucket = minute % bucketCount
    if (this.#minutes[bucket] !== minute) {
      this.#minutes[bucket] = minute
      this.#tokens[bucket] = 0
    }
    this.#tokens[bucket] = (this.#tokens[bucket] ?? 0) + tokens
    if (Math.abs(minute - this.#totalAt) <= windowMinutes) this.#total += tokens
    else this.#totalAt = -1
  }

  #used(minute: number): number {
    if (minute === this.#totalAt) return this.#total
    let total = 0
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const labelled = this.#minutes[bucket] ?? -1
      if (Math.abs(labelled - minute) <= windowMinutes) total += this.#tokens[bucket] ?? 0
    }
    this.#total = total
    this.#totalAt = minute
    return total
  }

  /** When so many of the used tokens have left; never is taken for the time in which all have. */
  #leavesAfterS(nowMs: number, tokens: number): number {
    const now = Math.floor(nowMs / minuteMs)
    let left = 0
    let minute = now - windowMinutes
    for (; minute <= now + windowMinutes; minute++) {
      const bucket = minute % bucketCount
      if (this.#minutes[bucket] === minute) left += this.#tokens[bucket] ?? 0
      if (left >= tokens) break
    }
    const leavesAt = left >= tokens ? minute : now
    return Math.max(1, Math.ceil(((leavesAt + windowMinutes + 1) * minuteMs - nowMs) / 1000))
  }
}
