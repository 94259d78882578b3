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
