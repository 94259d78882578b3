import { gather } from '../../call/gather.ts'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { type Clock, withTimeout } from '../../call/clock.ts'
import type { ControlClient } from '../../control/control-client.ts'
import type { CallsAnswer, DrainAnswer, DrainReport, RawLogSwitch } from '../../control/control-messages.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import { reportFault } from '../../lib/fault.ts'
import { ownIdentity } from '../../lib/process/process-identity.ts'
import type { SharedParts } from './old-gateways.ts'
import { type Limiter, ShrinkingSlots } from './shrinking-slots.ts'

const reportEveryMs = 100
/** Changes within this time are reported together. */
const gatherMs = 20
/** A successor that has not answered for so long is gone. */
const awayMs = 2000
/** For a successor to be found, and to take the last report. */
const lastReportMs = 5000

export interface DrainReporterOptions extends SharedParts {
  /** Whichever gateway it is by now. */
  readonly successor: Pick<ControlClient, 'reportDraining'>
  /** The whole gateway is told to stop. */
  readonly onStop: (withinMs: number) => void
  /** Tells the calls here, or cancels the one of this id. */
  readonly onAsk: (cancel: string | null) => Omit<CallsAnswer, 'seq'>
  /** The payload log was switched. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/** Reports to the successor, whichever gateway that is, for as long as this one finishes its calls. */
export class DrainReporter {
  readonly #options: DrainReporterOptions
  readonly #clock: Clock
  readonly #identity = ownIdentity()
  /** Slots of each upstream, also of removed ones. */
  readonly #slots = new Map<Limiter, ShrinkingSlots>()
  /** The use of calls that ended since the last answered report. */
  #used: MinuteUsage[]
  #answers: CallsAnswer[] = []
  /** The last order about the payload log. */
  #rawLog = ''
  /** Since when nobody has answered. */
  #noAnswerSinceMs: number | null = null
  #isEnding = false
  /** The successor hears of it soon. */
  readonly changed: () => void
  #wake = (): void => {}
  readonly #reported: Promise<void>

  /** `used` is what calls used that ended since the handover was told. */
  constructor(options: DrainReporterOptions, used: readonly MinuteUsage[]) {
    this.#options = options
    this.#clock = options.clock
    this.changed = gather(this.#clock, gatherMs, () => this.#wake())
    this.#used = [...used]
    for (const limiter of options.limiters()) this.#slotsOf(limiter, false)
    this.#reported = this.#keepReporting().catch(reportFault)
  }

  /** Upstreams have come, or gone. */
  refreshUpstreams(): void {
    for (const limiter of this.#options.limiters()) this.#slotsOf(limiter)
  }

  used(usage: MinuteUsage): void {
    this.#used.push(usage)
    this.changed()
  }

  /** All calls are finished. Resolves when the successor knows, or is gone. */
  async close(): Promise<void> {
    this.#isEnding = true
    this.#wake()
    await withTimeout(this.#clock, lastReportMs, this.#reported)
  }

  async #keepReporting(): Promise<void> {
    for (;;) {
      const isLast = this.#isEnding
      const isOver = (await this.#report(isLast)) || this.#noAnswerSinceMs !== null
      if (isLast && isOver) return
      if (this.#answers.length > 0 || (this.#isEnding && !isLast)) continue
      const woken = new AbortController()
      this.#wake = () => woken.abort()
      await this.#clock.delay(reportEveryMs, woken.signal).catch(() => {})
    }
  }

  /** False if no successor took the report. */
  async #report(isLast: boolean): Promise<boolean> {
    const used = this.#used
    const answers = this.#answers
    const report = this.#reportOf(isLast)
    this.#used = []
    this.#answers = []
    // On its way from one successor to the next it is refused.
    const answer = await this.#options.successor.reportDraining(report).catch(() => null)
    if (answer !== null && typeof answer !== 'string') {
      this.#noAnswerSinceMs = null
      this.#options.minutes.applyAnswer(report.minutes, answer.minutes)
      this.#applyAnswer(answer, report)
      return true
    }
    this.#onNoAnswer(answer !== null)
    this.#used = [...used, ...this.#used]
    this.#answers = [...answers, ...this.#answers]
    return false
  }

  /** One that starts a successor in vain is away for a moment, too. */
  #onNoAnswer(isAlone: boolean): void {
    const nowMs = this.#clock.now()
    this.#noAnswerSinceMs = isAlone ? (this.#noAnswerSinceMs ?? nowMs) : null
    if (this.#noAnswerSinceMs === null || nowMs - this.#noAnswerSinceMs < awayMs) return
    for (const slots of this.#slots.values()) slots.useOneSlot()
  }

  #reportOf(isLast: boolean): DrainReport {
    const { instance, limiters, budget, minutes } = this.#options
    let calls = 0
    const slots = Array.from(limiters(), (limiter) => {
      const { active, queued } = limiter.admission.snapshot()
      calls += active + queued
      return this.#slotsOf(limiter).report()
    })
    return {
      instance,
      identity: this.#identity,
      calls,
      slots,
      reserved: budget.reserved,
      counted: budget.snapshot(this.#clock.wallTime()).totalUsed,
      used: this.#used,
      minutes: minutes.report(),
      answers: this.#answers,
      isLast,
    }
  }

  #slotsOf(limiter: Limiter, isNew = true): ShrinkingSlots {
    const make = () => new ShrinkingSlots(limiter, this.#clock, isNew, () => this.changed())
    return getOrAdd(this.#slots, limiter, make)
  }

  #applyAnswer({ slots, taken, asks, rawLog, stopWithinMs }: DrainAnswer, report: DrainReport): void {
    const { budget, limiters, onAsk, onRawLog, onStop } = this.#options
    for (const limiter of limiters()) {
      const isOfIt = ({ name }: { readonly name: string }): boolean => name === limiter.name
      const told = report.slots.find(isOfIt)
      const answered = slots.find(isOfIt)
      if (told === undefined || answered === undefined) continue
      if (answered.clients !== null) {
        limiter.admission.reserveForPredecessor(
          0,
          new Map(answered.clients.map(({ of, slots: used }) => [of, used])),
        )
      }
      // Slots that were given back since the report are the successor's.
      this.#slotsOf(limiter).grow(answered.holding - told.holding)
    }
    budget.reserveElsewhere(taken)
    for (const { seq, cancel } of asks) this.#answers.push({ seq, ...onAsk(cancel) })
    const order = JSON.stringify(rawLog)
    if (rawLog !== null && order !== this.#rawLog) onRawLog(rawLog)
    this.#rawLog = order
    if (stopWithinMs !== null) onStop(stopWithinMs)
  }
}
