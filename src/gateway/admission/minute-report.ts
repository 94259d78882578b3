import type { CallSink, GatewayHistory } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import type { SlotLimiter } from './slot-limiter.ts'
import type { MinuteCounts } from './minute-figures.ts'

const minuteMs = 60_000
/** How late the running minute may be seen by those who look at the slots. */
const runningEveryMs = 1000

/** The source and the receiver of reported minutes. */
export interface MinuteReportOptions {
  readonly clock: Clock
  readonly admission: Pick<SlotLimiter, 'minute'>
  readonly sink: Pick<CallSink, 'figures'> & Pick<GatewayHistory, 'minute'>
}

/**
 * Reports every minute of the wall clock when it has ended, an idle one too: a missing minute is one in
 * which no gateway ran. The running minute is reported every second in which something happened, so that it is
 * not missing beside the calls that ended in it, and survives `kill -9`. A wall clock that is set back makes a
 * minute come twice. Never keeps the process alive.
 */
export class MinuteReport {
  readonly #options: MinuteReportOptions
  #minute: number
  #droppedBefore: number
  /** The counts that were last reported of the running minute. */
  #told = ''
  #cancel: (() => void) | null = null

  constructor(options: MinuteReportOptions) {
    const wallMs = options.clock.wallTime()
    this.#options = options
    this.#minute = minuteOf(wallMs)
    this.#droppedBefore = this.#dropped
    this.#arm(wallMs)
  }

  /** Reports what the last, unfinished minute has seen, and stops. */
  close(): void {
    if (this.#cancel === null) return
    this.#cancel()
    this.#cancel = null
    this.#reportEnded()
  }

  /** `wallMs` is the reading that told the minute: between two of them the minute may turn. */
  #arm(wallMs: number): void {
    const delayMs = Math.min(runningEveryMs, minuteMs - (wallMs % minuteMs))
    this.#cancel = this.#options.clock.after(delayMs, () => this.#wake(), { background: true })
  }

  #wake(): void {
    const wallMs = this.#options.clock.wallTime()
    const minute = minuteOf(wallMs)
    if (minute === this.#minute) this.#reportRunning()
    else {
      this.#reportEnded()
      this.#minute = minute
    }
    this.#arm(wallMs)
  }

  #reportRunning(): void {
    const counts = this.#options.admission.minute(false)
    const told = Object.values(counts).join(' ')
    const isIdle = counts.activeMax + counts.queuedMax + counts.admitted === 0
    if (isIdle || told === this.#told) return
    this.#told = told
    this.#report(counts)
  }

  #reportEnded(): void {
    this.#report(this.#options.admission.minute(true))
    this.#told = ''
    this.#droppedBefore = this.#dropped
  }

  #report(counts: MinuteCounts): void {
    const dropped = this.#dropped - this.#droppedBefore
    this.#options.sink.minute({ minute: this.#minute, ...counts, dropped })
  }

  get #dropped(): number {
    return this.#options.sink.figures().dropped
  }
}

function minuteOf(wallMs: number): number {
  return Math.floor(wallMs / minuteMs)
}
