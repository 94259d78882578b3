/**
 * How a call queues: an `arrival` at the end; one that comes `back` after it gave its slot up for a while, behind those
 * that have waited longer than it had its slot.
 */
export type QueueOrder = 'arrival' | 'back'

/** `fifo`: first in, first out. `fair`: clients take turns, and so each one's calls within its turns. */
export type QueueDiscipline = 'fifo' | 'fair'

/** The discipline that an option's value names. */
export function disciplineOf(word: string): QueueDiscipline {
  return word === 'fair' ? 'fair' : 'fifo'
}

/** Whom a call comes from: by its name, else by the fingerprint of its key. */
export interface Caller {
  readonly client: string | null
  readonly keyFingerprint: string | null
}

/** The caller of a call without client and key. */
export const unknownCaller: Caller = { client: null, keyFingerprint: null }

/** A call's share of limits a minute. */
export interface MinuteStake {
  /** Calls of one group wait one behind the other for the same limits. */
  readonly group: object
  /**
   * 0 if it may go now, else how long until one of the limits that it lacks has room, in ms. `claims` are the limits for which
   * calls before it wait; the limits for which it waits itself are added.
   */
  waitMs(nowMs: number, claims: Set<object>): number
  charge(nowMs: number): void
}

/** The state of the slots, and totals since the start. */
export interface SlotFigures {
  readonly maxConcurrent: number
  readonly slotCooldownMs: number
  /** Calls that hold a slot. */
  readonly active: number
  /** Calls that wait for one. */
  readonly queued: number
  /** Calls that were given a slot; one that comes back for its slot counts once. */
  readonly totalAdmitted: number
  /** Calls that had to wait. */
  readonly totalQueued: number
  readonly peakActive: number
}

/** Seconds after which a stopping gateway has most likely been replaced. */
export const drainRetryAfterS = 5

/** How slots are taken and given back that other gateways use, too. */
export interface SlotSharing {
  /** True if the slots that are this gateway's may be used at this instant. */
  leaseIsValid(): boolean
  /** A call has given its slot back, and no other has it yet. */
  released(): void
}
