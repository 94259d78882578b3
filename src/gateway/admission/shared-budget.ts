import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { Budget, BudgetFigures, BudgetOwners } from './budget.ts'
import { LocalBudget } from './local-budget.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** What a gateway tells of its tokens; all but `reserved` and `needs` of its whole life, so that nothing depends on their order. */
export interface BudgetMessage {
  readonly granted: number
  /** Of those, given back unused. */
  readonly given: number
  /** By calls that have ended. */
  readonly used: number
  /** What calls in flight may use. */
  readonly reserved: number
  /** What each call that waits may use, the first one first. */
  readonly needs: readonly number[]
  /** All rows of earlier runs in its folder are in the common store. */
  readonly isWhole: boolean
  /** Minutes are told from here on. */
  readonly fromMinute: number
}

export interface BudgetAnswer {
  readonly tokenLimit: number
  /** In this gateway's life. */
  readonly granted: number
  /** Of what this gateway has used, so many tokens have come. */
  readonly sent: number
  /** Neither used nor anybody's credit; negative if more was used than the limit. */
  readonly free: number
  /** So much credit is good to have. */
  readonly block: number
  /** The running one. */
  readonly minute: number
  /** In the 24 hours up to now, as far as it has come. */
  readonly used: number
  /** Of all gateways. */
  readonly minutes: readonly MinuteUsage[]
}

/** Carries messages to the budget that gateways share. */
export interface BudgetLink {
  /** Resolves with null if there was no answer, or it took too long. Never rejects. */
  syncBudget(message: BudgetMessage): Promise<BudgetAnswer | null>
}

export interface SharedBudgetOptions {
  readonly clock: Clock
  readonly tokenLimit: number
  readonly rejects: boolean
  readonly link: BudgetLink
  /** What calls have used here is told to it as well. */
  readonly local: LocalBudget
  /** Whether all rows of earlier runs in this folder are in the common store. */
  readonly isWhole: () => boolean
}

interface WaitingCall {
  readonly tokens: number
  readonly resolve: (reservation: Disposable) => void
  readonly reject: (failure: unknown) => void
}

const beatMs = 500
const minuteMs = 60_000
const windowMinutes = 24 * 60
/** Minutes that are told each time: in older ones something changes only where rows come late. */
const recentMinutes = 2
/** Calls of which the others hear. */
const mostNeeds = 64

/**
 * The budget of gateways that share one. Each holds credit, of which its calls reserve without asking anybody; where that is
 * too little a call waits for one answer of the others' database, and is refused if there is none. Without `rejects` it
 * only counts what all have used.
 */
export class SharedBudget implements Budget {
  readonly #options: SharedBudgetOptions
  /** What all have used, with what was used here and has not come there yet. */
  readonly #all: LocalBudget
  readonly #minutes = new Map<number, MinuteUsage>()
  #fromMinute = 0
  #granted = 0
  #given = 0
  #used = 0
  #reserved = 0
  #free = 0
  #waiting: WaitingCall[] = []
  /** Asks now, or once it is answered what it has asked. */
  readonly #tell = oneAtATime(() => this.#ask())
  readonly #cancelBeat: () => void

  constructor(options: SharedBudgetOptions) {
    this.#options = options
    this.#all = new LocalBudget(options.tokenLimit, options.rejects)
    const beat = (): void => {
      this.#tell()
      cancel = options.clock.after(beatMs, beat, { background: true })
    }
    let cancel = options.clock.after(0, beat, { background: true })
    this.#cancelBeat = () => cancel()
  }

  /** Credit that no call has reserved. */
  get spare(): number {
    return this.#granted - this.#given - this.#used - this.#reserved
  }

  check(nowMs: number, tokens: number): void {
    // What is not known yet is waited for once the call has its slot.
    if (!this.#options.rejects || !this.#all.isKnown || Math.max(1, tokens) <= this.spare) return
    this.#checkAll(nowMs, tokens)
  }

  reserve(nowMs: number, tokens: number): Disposable | null | Promise<Disposable> {
    if (!this.#options.rejects) return null
    if (this.#waiting.length === 0 && Math.max(1, tokens) <= this.spare) return this.#hold(tokens)
    if (this.#all.isKnown) this.#checkAll(nowMs, tokens)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tokens, resolve, reject })
      this.#tell()
    })
  }

  add(nowMs: number, reported: number, estimated: number, owners?: BudgetOwners): void {
    this.#used += reported + estimated
    this.#all.add(nowMs, reported, estimated)
    this.#options.local.add(nowMs, reported, estimated, owners)
  }

  snapshot(nowMs: number): BudgetFigures {
    return this.#all.snapshot(nowMs)
  }

  /** Gives back what nobody has reserved. Resolves once that was told, or could not be. */
  async close(): Promise<void> {
    this.#cancelBeat()
    this.#given += Math.max(0, this.spare)
    await this.#options.link.syncBudget(this.#message())
  }

  /** Throws if a call is too much, with what is known. */
  #checkAll(nowMs: number, tokens: number): void {
    const { dailyLimit, totalUsed } = this.#all.snapshot(nowMs)
    this.#all.reserveElsewhere(
      Math.max(0, dailyLimit - totalUsed - Math.max(0, this.#free) - Math.max(0, this.spare)),
    )
    this.#all.check(nowMs, tokens)
  }

  #hold(tokens: number): Disposable {
    let held = tokens
    this.#reserved += held
    return {
      [Symbol.dispose]: () => {
        this.#reserved -= held
        held = 0
      },
    }
  }

  #message(): BudgetMessage {
    return {
      granted: this.#granted,
      given: this.#given,
      used: this.#used,
      reserved: this.#reserved,
      needs: this.#waiting.slice(0, mostNeeds).map(({ tokens }) => Math.max(1, tokens)),
      isWhole: this.#options.isWhole(),
      fromMinute: this.#fromMinute,
    }
  }

  /** True: once more. */
  async #ask(): Promise<boolean> {
    const asked = this.#waiting.slice(0, mostNeeds)
    const answer = await this.#options.link.syncBudget(this.#message())
    const isStale = answer !== null && this.#take(answer, asked)
    if (answer === null) this.#fail(asked)
    return isStale || this.#waiting.length > 0
  }

  /** True: what all have used is to be told anew. */
  #take(answer: BudgetAnswer, asked: readonly WaitingCall[]): boolean {
    const { clock } = this.#options
    this.#granted = Math.max(this.#granted, answer.granted)
    this.#free = answer.free
    this.#all.setLimit(answer.tokenLimit)
    const isStale = this.#count(answer)
    const nowMs = clock.wallTime()
    for (const call of asked) {
      if (Math.max(1, call.tokens) <= this.spare) call.resolve(this.#hold(call.tokens))
      else {
        try {
          this.#checkAll(nowMs, call.tokens)
          // Somebody else was quicker here: there is some left to ask for.
          continue
        } catch (error) {
          call.reject(error)
        }
      }
      this.#waiting.splice(this.#waiting.indexOf(call), 1)
    }
    if (this.spare > 2 * answer.block && this.#waiting.length === 0) this.#given += this.spare - answer.block
    return isStale
  }

  /** What all have used, the gateways' own clocks being one. True: rows of long ago have come, and it is to be told anew. */
  #count({ minute, used, sent, minutes }: BudgetAnswer): boolean {
    if (this.#fromMinute === 0) this.#minutes.clear()
    for (const told of minutes) this.#minutes.set(told.minute, told)
    let sum = 0
    for (const { minute: at, tokens } of this.#minutes.values()) {
      if (at < minute - windowMinutes) this.#minutes.delete(at)
      else if (at <= minute + windowMinutes) sum += tokens
    }
    const isComplete = sum === used
    const isStale = !isComplete && this.#fromMinute !== 0
    this.#fromMinute = isComplete ? minute - recentMinutes : 0
    const unsent = Math.max(0, this.#used - sent)
    const nowMinute = Math.floor(this.#options.clock.wallTime() / minuteMs)
    this.#all.replace([...this.#minutes.values(), { minute: nowMinute, tokens: unsent, estimated: 0 }])
    return isStale
  }

  #fail(asked: readonly WaitingCall[]): void {
    const message =
      'How many tokens are left cannot be asked of the database that the gateways share, and the credit held here is too little (--budget-action reject).'
    for (const { reject } of asked) reject(new Failure('budget_unknown', message, { retryAfterS: 1 }))
    this.#waiting = this.#waiting.slice(asked.length)
  }
}
