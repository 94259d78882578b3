import type { GatewayMinute } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import type { MinuteCounts } from './minute-figures.ts'

const minuteMs = 60_000

export interface MinuteReportOptions {
  readonly clock: Clock
  /** Ends the running minute and gives its counts: {@link Admission.closeMinute}. */
  readonly closeMinute: () => MinuteCounts
  /** The running total of records that were dropped: the sink's figure. */
  readonly droppedTotal: () => number
  readonly report: (minute: GatewayMinute) => void
}

/**
 * Reports every minute of the wall clock when it has ended, an idle one too: a missing minute is one in
 * which no gateway ran. A wall clock that is set back makes a minute come twice. Never keeps the process alive.
 */
export class MinuteReport {
  readonly #options: MinuteReportOptions
  #minute: number
  #droppedBefore: number
  #cancel: (() => void) | null = null

  constructor(options: MinuteReportOptions) {
    this.#options = options
    this.#minute = this.#minuteNow()
    this.#droppedBefore = options.droppedTotal()
    this.#arm()
  }

  /** Reports what the last, unfinished minute has seen, and stops. */
  close(): void {
    if (this.#cancel === null) return
    this.#cancel()
    this.#cancel = null
    this.#report()
  }

  #minuteNow(): number {
    return Math.floor(this.#options.clock.wallTime() / minuteMs)
  }

  #arm(): void {
    const { clock } = this.#options
    const untilNextMs = minuteMs - (clock.wallTime() % minuteMs)
    this.#cancel = clock.after(untilNextMs, () => this.#wake(), { background: true })
  }

  #wake(): void {
    const minute = this.#minuteNow()
    // A timer may come a little before the wall clock's minute is over.
    if (minute !== this.#minute) {
      this.#report()
      this.#minute = minute
    }
    this.#arm()
  }

  #report(): void {
    const { closeMinute, droppedTotal, report } = this.#options
    const dropped = droppedTotal()
    report({ minute: this.#minute, ...closeMinute(), dropped: dropped - this.#droppedBefore })
    this.#droppedBefore = dropped
  }
}
