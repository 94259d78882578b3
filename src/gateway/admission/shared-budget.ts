import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { reportFault } from '../../lib/fault.ts'
import type { Budget, BudgetFigures, BudgetOwners } from './budget.ts'
import { LocalBudget } from './local-budget.ts'

/** What a gateway tells of its tokens. */
export interface BudgetMessage {
  /** What calls have used since it is on the list of gateways, with what those in flight may use. */
  readonly told: number
  /** Rows up to this number are known; 0 asks for all minutes. */
  readonly fromSeq: number
}

export interface BudgetAnswer {
  readonly tokenLimit: number
  /** What all other gateways have told, without what has come as rows. */
  readonly pending: number
  /** All rows up to this number are counted. */
  readonly seq: number
  /** `minutes` are all that count, and not only those in which rows have come. */
  readonly isWhole: boolean
  /** What others have used. */
  readonly minutes: readonly MinuteUsage[]
}

/** Carries messages to the database through which gateways share a budget. */
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
}

const beatMs = 500
const minuteMs = 60_000
const windowMinutes = 24 * 60

/**
 * The budget of gateways that share one: each counts its own calls at once, and those of the others as their rows come, half a
 * second or so later. No call waits for the database; so all together may pass the limit by what they admit meanwhile.
 */
export class SharedBudget implements Budget {
  readonly #options: SharedBudgetOptions
  /** What all have used. */
  readonly #all: LocalBudget
  /** What calls of this gateway have used. */
  readonly #own: LocalBudget
  readonly #minutes = new Map<number, MinuteUsage>()
  readonly #known = Promise.withResolvers<void>()
  #seq = 0
  /** By calls that have ended, since this gateway is on the list. */
  #used = 0
  #cancelBeat: () => void

  constructor(options: SharedBudgetOptions) {
    const { clock, tokenLimit, rejects } = options
    this.#options = options
    this.#all = new LocalBudget(tokenLimit, rejects)
    this.#own = new LocalBudget(tokenLimit, false)
    this.#cancelBeat = clock.after(0, () => this.#startBeat(), { background: true })
  }

  /** Resolves when it has been told what the others have used. */
  get known(): Promise<void> {
    return this.#known.promise
  }

  check(nowMs: number, tokens: number): void {
    this.#all.check(nowMs, tokens)
  }

  reserve(nowMs: number, tokens: number): Disposable | null {
    return this.#all.reserve(nowMs, tokens)
  }

  add(nowMs: number, reported: number, estimated: number, owners?: BudgetOwners): void {
    this.#used += reported + estimated
    this.#all.add(nowMs, reported, estimated)
    this.#own.add(nowMs, reported, estimated)
    this.#options.local.add(nowMs, reported, estimated, owners)
  }

  snapshot(nowMs: number): BudgetFigures {
    return this.#all.snapshot(nowMs)
  }

  /** The list of gateways has forgotten what it told. */
  tellAnew(): void {
    this.#used = 0
  }

  close(): void {
    this.#cancelBeat()
    this.#cancelBeat = () => {}
  }

  #startBeat(): void {
    this.#beat().catch(reportFault)
  }

  async #beat(): Promise<void> {
    let isClosed = false
    this.#cancelBeat = () => (isClosed = true)
    const { clock, link } = this.#options
    const told = Math.ceil(this.#used + this.#all.reserved)
    const answer = await link.syncBudget({ told, fromSeq: this.#seq })
    if (answer !== null) this.#take(answer)
    if (!isClosed) this.#cancelBeat = clock.after(beatMs, () => this.#startBeat(), { background: true })
  }

  #take({ tokenLimit, pending, seq, isWhole, minutes }: BudgetAnswer): void {
    const nowMs = this.#options.clock.wallTime()
    // A database that knows less than before was put back.
    const isOlder = seq < this.#seq
    this.#seq = isOlder ? 0 : seq
    this.#all.setLimit(tokenLimit)
    this.#all.reserveElsewhere(pending)
    if (isOlder) return
    if (isWhole) this.#minutes.clear()
    for (const counted of minutes) this.#minutes.set(counted.minute, counted)
    const oldest = Math.floor(nowMs / minuteMs) - 2 * windowMinutes
    for (const minute of this.#minutes.keys()) if (minute < oldest) this.#minutes.delete(minute)
    if (isWhole || minutes.length > 0)
      this.#all.replace([...this.#minutes.values(), ...this.#own.minutes(nowMs)])
    this.#known.resolve()
  }
}
