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
/** A successor that does not answer for this time has ended. */
const awayMs = 2000
/** Longest time to deliver the last report. */
const lastReportMs = 5000

export interface DrainReporterOptions extends SharedParts {
  /** The control client of the newest gateway. */
  readonly successor: Pick<ControlClient, 'reportDraining'>
  /** Called when the newest gateway stops. This one must stop within the given time (ms), too. */
  readonly onStop: (withinMs: number) => void
  /** Returns the calls here, or cancels the call with this id. */
  readonly onAsk: (cancel: string | null) => Omit<CallsAnswer, 'seq'>
  /** Called when the raw log was switched. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/** Reports to the newest gateway while this one finishes its calls. */
export class DrainReporter {
  readonly #options: DrainReporterOptions
  readonly #clock: Clock
  readonly #identity = ownIdentity()
  /** Slots of each upstream, with removed upstreams. */
  readonly #slots = new Map<Limiter, ShrinkingSlots>()
  /** The use of calls that ended since the last answered report. */
  #used: MinuteUsage[]
  #answers: CallsAnswer[] = []
  /** The last switch of the raw log, as JSON; empty before one. */
  #rawLog = ''
  /** When answers stopped (monotonic ms); null while the successor answers. */
  #noAnswerSinceMs: number | null = null
  #isEnding = false
  /** Call it when the successor should get a report soon. */
  readonly changed: () => void
  #wake = (): void => {}
  readonly #reported: Promise<void>

  /** `used` is the use of calls that ended since the handover message. */
  constructor(options: DrainReporterOptions, used: readonly MinuteUsage[]) {
    this.#options = options
    this.#clock = options.clock
    this.changed = gather(this.#clock, gatherMs, () => this.#wake())
    this.#used = [...used]
    for (const limiter of options.limiters()) this.#slotsOf(limiter, false)
    this.#reported = this.#keepReporting().catch(reportFault)
  }

  /** Call it when upstreams were added or removed. */
  refreshUpstreams(): void {
    for (const limiter of this.#options.limiters()) this.#slotsOf(limiter)
  }

  used(usage: MinuteUsage): void {
    this.#used.push(usage)
    this.changed()
  }

  /** Sends the last report. Resolves when the successor has it, or is gone. */
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

  /** Sends a report. Resolves with false if no successor took it. */
  async #report(isLast: boolean): Promise<boolean> {
    const used = this.#used
    const answers = this.#answers
    const report = this.#reportOf(isLast)
    this.#used = []
    this.#answers = []
    // A successor that is being replaced refuses reports.
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

  /** Handles a missing answer. A successor may be away for a moment, while a start of its own successor fails. */
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
      const reported = report.slots.find(isOfIt)
      const answered = slots.find(isOfIt)
      if (reported === undefined || answered === undefined) continue
      if (answered.clients !== null) {
        limiter.admission.reserveForPredecessor(
          0,
          new Map(answered.clients.map(({ of, slots: used }) => [of, used])),
        )
      }
      // Slots that were given back since the report belong to the successor.
      this.#slotsOf(limiter).grow(answered.holding - reported.holding)
    }
    budget.reserveElsewhere(taken)
    for (const { seq, cancel } of asks) this.#answers.push({ seq, ...onAsk(cancel) })
    const order = JSON.stringify(rawLog)
    if (rawLog !== null && order !== this.#rawLog) onRawLog(rawLog)
    this.#rawLog = order
    if (stopWithinMs !== null) onStop(stopWithinMs)
  }
}
