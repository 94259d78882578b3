import type { GatewayMinute } from '../../call/call-sink.ts'

/** The part of a {@link GatewayMinute} that each upstream's slots count; {@link SlotTally} has the peaks of all. */
export type SlotMinuteCounts = Pick<GatewayMinute, 'atLimitMs' | 'admitted'>

const minuteMs = 60_000

/** Counts the calls that one upstream's slots admit, and the time without a free slot, from one close to the next. */
export class SlotMinute {
  /** Monotonic milliseconds; read only when the slots become full, or free again. */
  readonly #nowMs: () => number
  #isFull = false
  #fullSinceMs = 0
  #atLimitMs = 0
  #admittedBefore = 0

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

  /** The counts since the last close. With `isOver`, the next counts begin now. */
  counts(totalAdmitted: number, isOver: boolean): SlotMinuteCounts {
    const sinceMs = this.#isFull ? this.#nowMs() - this.#fullSinceMs : 0
    const counts = {
      // A late timer can make the counted time longer than a minute, and the column allows one minute.
      atLimitMs: Math.min(minuteMs, Math.round(this.#atLimitMs + sinceMs)),
      admitted: totalAdmitted - this.#admittedBefore,
    }
    if (!isOver) return counts
    this.#atLimitMs = 0
    this.#fullSinceMs = this.#nowMs()
    this.#admittedBefore = totalAdmitted
    return counts
  }
}

/** Counts the calls at all upstreams of a gateway together: their peak is not the sum of each upstream's peaks. */
export class SlotTally {
  #active = 0
  #queued = 0
  #peakActive = 0
  #activeMax = 0
  #queuedMax = 0

  /** Most calls in flight since the start. */
  get peakActive(): number {
    return this.#peakActive
  }

  /** Adds calls in flight and waiting calls of one upstream; negative numbers take them away. */
  changed(active: number, queued: number): void {
    this.#active += active
    this.#queued += queued
    if (this.#active > this.#activeMax) this.#activeMax = this.#active
    if (this.#queued > this.#queuedMax) this.#queuedMax = this.#queued
    if (this.#active > this.#peakActive) this.#peakActive = this.#active
  }

  /** The peaks since the last close. With `isOver`, the next peaks begin with the present calls. */
  peaks(isOver: boolean): Pick<GatewayMinute, 'activeMax' | 'queuedMax'> {
    const peaks = { activeMax: this.#activeMax, queuedMax: this.#queuedMax }
    if (isOver) {
      this.#activeMax = this.#active
      this.#queuedMax = this.#queued
    }
    return peaks
  }
}
