import type { GatewayMinute } from '../call/call-sink.ts'

interface Change {
  readonly atMs: number
  readonly active: number
  readonly waiting: number
}

const minuteMs = 60_000
/** A wait that is shorter is the gateway's own work. */
const leastWaitMs = 1

/** A made-up gateway: the waits of its calls for slots, and the figures that it would have recorded each minute. */
export class PastGateway {
  readonly upstream: string
  readonly instance: string
  readonly slots: number
  /** When the slots are free, the soonest first. */
  readonly #freeAtMs: Float64Array
  #changes: Change[] = []
  #active = 0
  #waiting = 0

  constructor(upstream: string, instance: string, slots: number) {
    this.upstream = upstream
    this.instance = instance
    this.slots = slots
    this.#freeAtMs = new Float64Array(slots)
  }

  /** How long a call that comes now waits for a slot. */
  waitMs(atMs: number): number {
    return Math.max(0, (this.#freeAtMs[0] ?? 0) - atMs)
  }

  /** Says when a call came, had a slot, and gave it back. */
  take(cameMs: number, beganMs: number, endedMs: number): void {
    this.#freeAtMs[0] = endedMs
    this.#freeAtMs.sort()
    if (beganMs - cameMs >= leastWaitMs) {
      this.#changes.push({ atMs: cameMs, active: 0, waiting: 1 }, { atMs: beganMs, active: 0, waiting: -1 })
    }
    this.#changes.push({ atMs: beganMs, active: 1, waiting: 0 }, { atMs: endedMs, active: -1, waiting: 0 })
  }

  /** The next minute, idle or not, once all calls that came in it are known. */
  minute(minute: number): GatewayMinute {
    const endMs = (minute + 1) * minuteMs
    const changes = this.#changes
      .filter(({ atMs }) => atMs < endMs)
      .sort((one, other) => one.atMs - other.atMs)
    this.#changes = this.#changes.filter(({ atMs }) => atMs >= endMs)
    let [sinceMs, atLimitMs, admitted] = [minute * minuteMs, 0, 0]
    let [activeMax, queuedMax] = [this.#active, this.#waiting]
    const pass = (untilMs: number): void => {
      if (this.#active >= this.slots) atLimitMs += untilMs - sinceMs
      sinceMs = untilMs
    }
    for (const { atMs, active, waiting } of changes) {
      pass(Math.max(sinceMs, atMs))
      this.#active += active
      this.#waiting += waiting
      if (active > 0) admitted++
      activeMax = Math.max(activeMax, this.#active)
      queuedMax = Math.max(queuedMax, this.#waiting)
    }
    pass(endMs)
    return { minute, activeMax: Math.min(this.slots, activeMax), queuedMax, atLimitMs, admitted, dropped: 0 }
  }
}
