import type { Placed } from '../../lib/swap-list.ts'

/**
 * How a call queues. `arrival`: at the end. `back`: a call that will be tried again queues behind the calls
 * that have waited longer than it had its slot.
 */
export type QueueOrder = 'arrival' | 'back'

/** `fifo`: the oldest call is next. `fair`: clients take turns, and the oldest call of the client is next. */
export type QueueDiscipline = 'fifo' | 'fair'

/** The client of a call: its name and the fingerprint of its key. */
export interface Caller {
  readonly client: string | null
  readonly keyFingerprint: string | null
}

/** The caller of a call without client and key. */
export const unknownCaller: Caller = { client: null, keyFingerprint: null }

/** A slot in use. The call with a permit must release it on every path. */
export class Permit implements Placed {
  index = -1
  readonly caller: Caller
  #giveBack: ((permit: Permit) => void) | null

  constructor(caller: Caller, giveBack: (permit: Permit) => void) {
    this.caller = caller
    this.#giveBack = giveBack
  }

  /** Gives the slot back; a second call does nothing. */
  release(): void {
    const giveBack = this.#giveBack
    this.#giveBack = null
    giveBack?.(this)
  }
}

/** A call's share of limits a minute. */
export interface MinuteStake {
  /** The calls of a group need the same limits, and wait in one line. */
  readonly group: object
  /**
   * Time in ms until the call's full limits may have room; 0 if the call may go now. `claims` has the limits
   * for which earlier calls wait; this call adds its own.
   */
  waitMs(nowMs: number, claims: Set<object>): number
  /** Counts the call in its limits. */
  charge(nowMs: number): void
}

/** The state of the slots. */
export interface SlotFigures {
  readonly maxConcurrent: number
  readonly slotCooldownMs: number
  /** Calls that hold a slot. */
  readonly active: number
  /** Calls that wait for a slot. */
  readonly queued: number
}

/** Seconds after which a stopping gateway has most likely been replaced. */
export const drainRetryAfterS = 5

/** Slots that other gateways use, too. */
export interface SlotSharing {
  /** True if this gateway may use its slots now. */
  leaseIsValid(): boolean
  /** Call it when a call has given its slot back, before another call gets the slot. */
  released(): void
}
