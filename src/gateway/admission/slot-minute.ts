import type { GatewayMinute } from '../../call/call-sink.ts'
import type { QueueOrder } from './admission.ts'

const minuteMs = 60_000

/** Counts the time without a free slot at one upstream, from one close to the next. */
export class SlotMinute {
  /** Monotonic milliseconds; read only when the slots become full, or free again. */
  readonly #nowMs: () => number
  #isFull = false
  #fullSinceMs = 0
  #atLimitMs = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Notes whether all slots are used (`isFull`). A cooling slot counts as used. */
  changed(isFull: boolean): void {
    if (isFull === this.#isFull) return
    const nowMs = this.#nowMs()
    if (this.#isFull) this.#atLimitMs += nowMs - this.#fullSinceMs
    this.#isFull = isFull
    this.#fullSinceMs = nowMs
  }

  /** The time (ms) since the last close. With `isOver`, the next time begins now. */
  atLimitMs(isOver: boolean): number {
    const sinceMs = this.#isFull ? this.#nowMs() - this.#fullSinceMs : 0
    // A late timer can make the counted time longer than a minute, and the column allows one minute.
    const atLimitMs = Math.min(minuteMs, Math.round(this.#atLimitMs + sinceMs))
    if (isOver) {
      this.#atLimitMs = 0
      this.#fullSinceMs = this.#nowMs()
    }
    return atLimitMs
  }
}

/**
 * Counts calls at one upstream, or at all upstreams of a gateway. The peak of all is not the sum of their peaks, and their
 * totals include upstreams that were removed.
 */
export class SlotTally {
  /** Calls that hold a slot. Only this class sets its counts. */
  active = 0
  /** Calls that wait for a slot. */
  queued = 0
  /** Most calls in flight since the start. */
  peakActive = 0
  /** Calls that got a slot; a call that is tried again counts once. */
  totalAdmitted = 0
  /** Calls that had to wait. */
  totalQueued = 0
  /** Attempts that were sent again after a 429. */
  totalRetries = 0
  /** The tally of all upstreams; null for that one itself. */
  readonly #whole: SlotTally | null
  #activeMax = 0
  #queuedMax = 0
  #admittedBefore = 0

  constructor(whole: SlotTally | null = null) {
    this.#whole = whole
  }

  /** A call got a slot. */
  admitted(order: QueueOrder): void {
    this.active++
    if (order === 'arrival') this.totalAdmitted++
    if (this.active > this.peakActive) this.peakActive = this.active
    if (this.active > this.#activeMax) this.#activeMax = this.active
    this.#whole?.admitted(order)
  }

  /** A call gave its slot back. */
  released(): void {
    this.active--
    this.#whole?.released()
  }

  /** A call began to wait. */
  waits(order: QueueOrder): void {
    this.queued++
    if (order === 'arrival') this.totalQueued++
    if (this.queued > this.#queuedMax) this.#queuedMax = this.queued
    this.#whole?.waits(order)
  }

  /** A call no longer waits. */
  waited(): void {
    this.queued--
    this.#whole?.waited()
  }

  /** A call is tried again after a 429. */
  retried(): void {
    this.totalRetries++
    this.#whole?.retried()
  }

  /** The counts since the last close. With `isOver`, the next ones begin with the present calls. */
  minute(isOver: boolean): Pick<GatewayMinute, 'activeMax' | 'queuedMax' | 'admitted'> {
    const admitted = this.totalAdmitted - this.#admittedBefore
    const minute = { activeMax: this.#activeMax, queuedMax: this.#queuedMax, admitted }
    if (isOver) {
      this.#activeMax = this.active
      this.#queuedMax = this.queued
      this.#admittedBefore = this.totalAdmitted
    }
    return minute
  }
}
