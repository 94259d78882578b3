import { gather } from '../../call/gather.ts'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { withTimeout } from '../../call/clock.ts'
import type { ControlClient } from '../../control/control-client.ts'
import type {
  CallsAnswer,
  DrainAnswer,
  DrainReport,
  PredecessorSlots,
  RawLogSwitch,
} from '../../control/control-messages.ts'
import { reportFault } from '../../lib/fault.ts'
import { type Poll, startPoll } from '../../lib/poll.ts'
import { ownIdentity } from '../../lib/process/process-identity.ts'
import type { Limiter, SharedParts } from './old-gateways.ts'

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
  /** Called when the newest gateway stops. The draining gateway must stop within the given time (ms), too. */
  readonly onStop: (withinMs: number) => void
  /** Returns the calls here, or cancels the call with this id. */
  readonly onAsk: (cancel: string | null) => Omit<CallsAnswer, 'seq'>
  /** Called when the raw log was switched. */
  readonly onRawLog: (to: RawLogSwitch) => void
}

/**
 * Reports to the newest gateway while this one finishes its calls. The old gateway uses those slots of each
 * upstream that its calls hold or wait for. Each report gives the others to the newest gateway, and each answer may
 * grant more.
 */
export class DrainReporter {
  readonly #options: DrainReporterOptions
  readonly #identity = ownIdentity()
  /** The use of calls that ended since the last answered report. */
  readonly #used: MinuteUsage[]
  readonly #answers: CallsAnswer[] = []
  /** The last switch of the raw log, as JSON; empty before one. */
  #rawLog = ''
  /** Since when no gateway has the control socket (monotonic ms); null while one has. */
  #aloneSinceMs: number | null = null
  #isEnding = false
  readonly #ended = Promise.withResolvers<void>()
  readonly #reports: Poll
  /** Call it when the successor should get a report soon. */
  readonly changed: () => void

  /** `used` is the use of calls that ended since the handover message. */
  constructor(options: DrainReporterOptions, used: readonly MinuteUsage[]) {
    const { clock } = options
    this.#options = options
    this.#used = [...used]
    this.changed = gather(clock, gatherMs, () => this.#reports.refresh())
    this.refreshUpstreams()
    const read = (): Promise<void> => this.#report()
    this.#reports = startPoll({ clock, everyMs: reportEveryMs, read, onFault: reportFault })
  }

  /** Call it when upstreams were added or removed. */
  refreshUpstreams(): void {
    for (const { admission, isShared } of this.#options.limiters()) {
      if (isShared) continue
      admission.keep(admission.needed)
      admission.watch(this.changed)
    }
  }

  used(usage: MinuteUsage): void {
    this.#used.push(usage)
    this.changed()
  }

  /** Sends the last report. Resolves when the successor has it, or is gone. */
  async close(): Promise<void> {
    this.#isEnding = true
    this.#reports.refresh()
    await withTimeout(this.#options.clock, lastReportMs, this.#ended.promise)
    this.#reports.stop()
  }

  async #report(): Promise<void> {
    const report = this.#makeReport()
    const answer = await this.#options.successor.reportDraining(report).catch(() => 'refused' as const)
    if (answer === 'refused') {
      // The successor is being replaced itself.
      this.#aloneSinceMs = null
      return
    }
    if (typeof answer === 'string') this.#goOnAlone()
    else {
      this.#aloneSinceMs = null
      this.#used.splice(0, report.used.length)
      this.#answers.splice(0, report.answers.length)
      this.#options.minutes.applyAnswer(report.minutes, answer.minutes)
      this.#applyAnswer(answer)
    }
    if (report.isLast) this.#ended.resolve()
  }

  /** Handles a missing successor, which may be away for a moment, while it fails to start its own successor. */
  #goOnAlone(): void {
    const nowMs = this.#options.clock.now()
    this.#aloneSinceMs ??= nowMs
    if (nowMs - this.#aloneSinceMs < awayMs) return
    for (const { admission, isShared } of this.#options.limiters())
      if (!isShared && admission.slots === 0 && admission.needed > 0) admission.setCeiling(1)
  }

  #makeReport(): DrainReport {
    const { instance, limiters, tokens, minutes, clock } = this.#options
    let calls = 0
    const slots = Array.from(limiters(), (limiter) => {
      const { active, queued } = limiter.admission.snapshot()
      calls += active + queued
      return slotsOf(limiter)
    })
    return {
      instance,
      identity: this.#identity,
      calls,
      slots,
      reserved: tokens.all.reserved,
      counted: tokens.all.snapshot(clock.wallTime()).totalUsed,
      used: [...this.#used],
      minutes: minutes.report(),
      answers: [...this.#answers],
      isLast: this.#isEnding,
    }
  }

  #applyAnswer({ slots, taken, asks, rawLog, stopWithinMs }: DrainAnswer): void {
    const { tokens, limiters, onAsk, onRawLog, onStop } = this.#options
    for (const { name, admission, isShared } of limiters()) {
      const answered = slots.find((candidate) => candidate.name === name)
      if (answered === undefined) continue
      if (answered.clients !== null) {
        const used = new Map(answered.clients.map(({ of, slots: calls }) => [of, calls]))
        admission.reserveForPredecessor(0, used)
      }
      if (isShared) continue
      const { max = admission.snapshot().maxConcurrent } = answered
      if (max !== admission.snapshot().maxConcurrent) admission.setCapacity(max)
      admission.setCeiling(answered.holding)
    }
    tokens.all.reserveElsewhere(taken)
    for (const { seq, cancel } of asks) this.#answers.push({ seq, ...onAsk(cancel) })
    if (asks.length > 0) this.#reports.refresh()
    const order = JSON.stringify(rawLog)
    if (rawLog !== null && order !== this.#rawLog) onRawLog(rawLog)
    this.#rawLog = order
    if (stopWithinMs !== null) onStop(stopWithinMs)
  }
}

/** The slots of an upstream that calls here hold or wait for. Others are the successor's from now on. */
function slotsOf({ name, admission, isShared }: Limiter): PredecessorSlots {
  const wants = admission.needed
  if (!isShared) admission.keep(wants)
  const clients = Array.from(admission.callsOfLimited, ([of, slots]) => ({ of, slots }))
  return {
    name,
    max: admission.snapshot().maxConcurrent,
    holding: isShared ? wants : admission.slots,
    wants,
    clients: clients.filter(({ slots }) => slots > 0),
  }
}
