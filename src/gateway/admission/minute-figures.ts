import type { GatewayMinute } from '../../call/call-sink.ts'

/** The part of a {@link GatewayMinute} that admission counts. */
export type MinuteCounts = Omit<GatewayMinute, 'minute' | 'dropped'>

const minuteMs = 60_000

/** The figures of several queues as of one, with the peaks of all: full is the time in which the fullest was. */
export function sumOfMinutes(
  counts: readonly MinuteCounts[],
  peaks: Pick<MinuteCounts, 'activeMax' | 'queuedMax'>,
): MinuteCounts {
  return counts.reduce(
    (sum, each) => ({
      ...peaks,
      atLimitMs: Math.max(sum.atLimitMs, each.atLimitMs),
      admitted: sum.admitted + each.admitted,
    }),
    { ...peaks, atLimitMs: 0, admitted: 0 },
  )
}

/** Sums up the states that admission goes through, from one `close` to the next. */
export class MinuteFigures {
  /** Monotonic milliseconds; asked only where the limit is reached or left. */
  readonly #nowMs: () => number
  #active = 0
  #queued = 0
  #activeMax = 0
  #queuedMax = 0
  #full = false
  #fullSinceMs = 0
  #atLimitMs = 0
  #admittedBefore = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The state after a change. `full`: no slot is free, a cooling one included, because calls use them. */
  changed(active: number, queued: number, full: boolean): void {
    this.#active = active
    this.#queued = queued
    if (active > this.#activeMax) this.#activeMax = active
    if (queued > this.#queuedMax) this.#queuedMax = queued
    if (full === this.#full) return
    const nowMs = this.#nowMs()
    if (this.#full) this.#atLimitMs += nowMs - this.#fullSinceMs
    this.#full = full
    this.#fullSinceMs = nowMs
  }

  /** The figures since they were last closed; `closes` them, so that the new ones begin with the present state. */
  counts(totalAdmitted: number, closes: boolean): MinuteCounts {
    const sinceMs = this.#full ? this.#nowMs() - this.#fullSinceMs : 0
    const counts = {
      activeMax: this.#activeMax,
      queuedMax: this.#queuedMax,
      // A late timer can stretch what is counted as a minute; the column means this minute's share.
      atLimitMs: Math.min(minuteMs, Math.round(this.#atLimitMs + sinceMs)),
      admitted: totalAdmitted - this.#admittedBefore,
    }
    if (!closes) return counts
    this.#activeMax = this.#active
    this.#queuedMax = this.#queued
    this.#atLimitMs = 0
    this.#fullSinceMs = this.#nowMs()
    this.#admittedBefore = totalAdmitted
    return counts
  }
}
