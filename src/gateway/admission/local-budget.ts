import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Budget, BudgetFigures, BudgetOwners } from './budget.ts'
import { budgetRefusal } from './budget-refusal.ts'
import type { Owner } from './owner.ts'

/** Learns of what other gateways have to know. */
export interface BudgetWatcher {
  /** A call that ended here used this. */
  readonly added: (usage: MinuteUsage) => void
  /** What calls in flight here may use is another number now. */
  readonly reserved: () => void
}

interface UsedMinute {
  minute: number
  tokens: number
  estimated: number
}

const noOwners: BudgetOwners = {}
const minuteMs = 60_000
const windowMinutes = 24 * 60
/** Those of a clock that was set are kept, as it may be set back, until there are so many. */
const mostMinutes = 4 * windowMinutes
/** When to try again if only calls in flight stand in the way: nobody knows when they end. */
const reservedRetryS = 60

/**
 * The budget of one gateway: a sliding window of 24 hours, by the minute: the running one and the 1440 before it.
 *
 * Minutes are those of the wall clock, as the recorded calls have them. When that is set back, what was used
 * in what is now the future still counts, so that nobody gains tokens by setting a clock; when it is set
 * forward and back again, nothing is forgotten. What lies more than a day ahead is not believed.
 */
export class LocalBudget implements Budget {
  #dailyLimit: number
  readonly #rejects: boolean
  readonly #minutes = new Map<number, UsedMinute>()
  /** The minute for which the totals hold; in every new one they are summed up afresh. */
  #totalAt = -1
  #total = 0
  #totalEstimated = 0
  /** Tokens that calls in flight here may still use. Set here alone, as is the next. */
  reserved = 0
  #reservedElsewhere = 0
  /** Whether it has been told what was used before this gateway's start. */
  isKnown = false
  #watcher: BudgetWatcher | null = null
  readonly #owner: Owner | null

  /**
   * `rejects`: refuses calls for which too few tokens are left, and does not only count. `owner`: whose budget it is;
   * null for that of all.
   */
  constructor(dailyLimit: number, rejects: boolean, owner: Owner | null = null) {
    this.#dailyLimit = dailyLimit
    this.#rejects = rejects
    this.#owner = owner
  }

  /** What calls in flight may still use, with those of other gateways. */
  get reservedInAll(): number {
    return this.reserved + this.#reservedElsewhere
  }

  add(nowMs: number, reported: number, estimated = 0, owners: BudgetOwners = noOwners): void {
    const { of, at } = owners
    this.addTo({ minute: Math.floor(nowMs / minuteMs), tokens: reported + estimated, estimated, of, at })
  }

  /** As `add`, for a call that another gateway has told of. */
  addTo(usage: MinuteUsage): void {
    this.#put(usage)
    this.#watcher?.added(usage)
  }

  watch(watcher: BudgetWatcher | null): void {
    this.#watcher = watcher
  }

  /** Other gateways' calls in flight may use so many tokens, or have used them unknown to this one. */
  reserveElsewhere(tokens: number): void {
    this.#reservedElsewhere = tokens
  }

  /** All that counts: what `restore` takes to make a budget that is like this one. */
  minutes(nowMs: number): readonly Readonly<UsedMinute>[] {
    const now = Math.floor(nowMs / minuteMs)
    return [...this.#minutes.values()].filter(({ minute }) => Math.abs(minute - now) <= windowMinutes)
  }

  /**
   * What the calls of before this gateway's start used. They are others than those given to `add`, so it
   * does not matter which comes first; it is to be called once.
   */
  restore(minutes: readonly MinuteUsage[]): void {
    this.isKnown = true
    for (const usage of minutes) this.#put(usage)
  }

  /** All that counts, in place of what was counted here. */
  replace(minutes: Iterable<MinuteUsage>): void {
    this.#minutes.clear()
    this.#totalAt = -1
    this.restore([...minutes])
  }

  check(nowMs: number, tokens: number): void {
    if (!this.#rejects) return
    const figures = this.snapshot(nowMs)
    // One that does not say how many it may use needs at least one.
    const needed = Math.max(1, tokens)
    const reserved = this.reservedInAll
    if (figures.totalUsed + reserved + needed <= figures.dailyLimit) return
    const retryAfterS = this.#retryAfterS(nowMs, figures, needed)
    throw budgetRefusal({ ...figures, reserved, retryAfterS }, tokens, this.#owner)
  }

  reserve(nowMs: number, tokens: number): Disposable | null {
    this.check(nowMs, tokens)
    if (!this.#rejects) return null
    let held = 0
    const hold = (count: number): void => {
      if (count === held) return
      this.reserved += count - held
      held = count
      this.#watcher?.reserved()
    }
    hold(tokens)
    return { [Symbol.dispose]: () => hold(0) }
  }

  setLimit(dailyLimit: number): void {
    this.#dailyLimit = dailyLimit
  }

  snapshot(nowMs: number): BudgetFigures {
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

  #put({ minute, tokens, estimated = 0 }: MinuteUsage): void {
    if (!(tokens > 0)) return
    const used = this.#minutes.get(minute) ?? { minute, tokens: 0, estimated: 0 }
    used.tokens += tokens
    used.estimated += estimated
    this.#minutes.set(minute, used)
    if (Math.abs(minute - this.#totalAt) <= windowMinutes) {
      this.#total += tokens
      this.#totalEstimated += estimated
    } else this.#totalAt = -1
    if (this.#minutes.size <= mostMinutes) return
    for (const other of this.#minutes.keys()) {
      if (Math.abs(other - minute) > windowMinutes) this.#minutes.delete(other)
    }
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

  #retryAfterS(nowMs: number, { totalUsed, dailyLimit }: BudgetFigures, needed: number): number | null {
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
