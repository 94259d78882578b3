import type { CallSink, GatewayHistory, GatewayMinute } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'

const minuteMs = 60_000
/** Interval of reports of the running minute, for charts of the slots. */
const runningEveryMs = 1000

/** The part of a {@link GatewayMinute} that admission counts. */
export type MinuteCounts = Omit<GatewayMinute, 'minute' | 'dropped'>

/** The source of minutes, and the receiver of their report. */
export interface MinuteReportOptions {
  readonly clock: Clock
  /** Returns the counts since the last closed minute; `isOver` begins a new minute. */
  readonly counts: (isOver: boolean) => MinuteCounts
  readonly sink: Pick<CallSink, 'figures'> & Pick<GatewayHistory, 'minute'>
}

/**
 * Reports every minute of the wall clock when it has ended, also an idle one: in a missing minute no gateway
 * ran. The running minute is reported every second in which something happened, so that it is there beside
 * its calls, and survives `kill -9`. If the wall clock is set back, a minute is reported twice. Never keeps
 * the process alive.
 */
export class MinuteReport {
  readonly #options: MinuteReportOptions
  #minute: number
  #droppedBefore: number
  /** The last reported counts of the running minute, as JSON. */
  #reported = ''
  #cancel: (() => void) | null = null

  constructor(options: MinuteReportOptions) {
    const wallMs = options.clock.wallTime()
    this.#options = options
    this.#minute = minuteOf(wallMs)
    this.#droppedBefore = this.#dropped
    this.#arm(wallMs)
  }

  /** Reports the unfinished minute, and stops. */
  close(): void {
    if (this.#cancel === null) return
    this.#cancel()
    this.#cancel = null
    this.#reportEnded()
  }

  /**
   * Sets the timer for the next report. `wallMs` is the reading that gave `#minute`, because another reading
   * could be in the next minute.
   */
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
    const counts = this.#options.counts(false)
    const text = Object.values(counts).join(' ')
    const isIdle = counts.activeMax + counts.queuedMax + counts.admitted === 0
    if (isIdle || text === this.#reported) return
    this.#reported = text
    this.#report(counts)
  }

  #reportEnded(): void {
    this.#report(this.#options.counts(true))
    this.#reported = ''
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
