/** A gateway's message to the pool of shared slots. Messages may be lost, repeated, and overtake each other. */
export interface SlotSync {
  readonly holder: string
  /** The id of the pool's state that the gateway knows; null before the first answer. */
  readonly poolId: string | null
  /** The number of the gateway's joins. A message with a new number joins. */
  readonly joinCount: number
  /** Slots in use at the last join. */
  readonly usedAtJoin: number
  /** Slots given back since the join; only grows. */
  readonly returnedTotal: number
  /** The highest `grantedTotal` of an answer since the join; `usedAtJoin` before the first one. */
  readonly grantedTotal: number
  /** Waits (ms) of the oldest waiting calls, the longest first: at most {@link mostAges}. */
  readonly ages: readonly number[]
}

export type SlotAnswer =
  /** The pool does not know this holder, so it has to join again. */
  | { readonly known: false; readonly poolId: string }
  | {
      readonly known: true
      /** Slots granted since the join, with `usedAtJoin`; only grows. */
      readonly grantedTotal: number
      /** True if freed slots must be given back: another gateway needs one, or gateways hold more slots than exist. */
      readonly contended: boolean
      /**
       * The wait (ms) of the oldest call at other gateways. A call here that has waited longer may get a
       * freed slot. Null if no call waits elsewhere, or gateways hold more slots than exist.
       */
      readonly elsewhereMs: number | null
    }

/** Most waiting calls in a message. */
export const mostAges = 16

/** Share of a lease after which the holder uses no slot, so that it stops before the pool frees the slots. */
const usedShare = 0.9

export interface SlotHolderProtocolOptions {
  readonly holder: string
  readonly leaseMs: number
  /** Returns the slots in use here, with cooling ones. */
  readonly inUse: () => number
}

/** A time by two clocks: the monotonic clock stops during a suspend, and the wall clock can be set. */
export interface BothClocks {
  readonly monotonicMs: number
  readonly wallMs: number
}

/**
 * A holder's side of the slot protocol: a pure machine. A freed slot is kept for the next call, without a message, while
 * no call waits elsewhere.
 */
export class SlotHolderProtocol {
  readonly #holder: string
  readonly #leaseMs: number
  readonly #inUse: () => number
  #poolId: string | null = null
  #joinCount = 1
  #usedAtJoin = 0
  #grantedTotal = 0
  #returnedTotal = 0
  /** The highest `returnedTotal` in a message since the join: the pool may know it. */
  #reportedReturned = 0
  /** `returnedTotal` of the last answered message. */
  #knownReturned = 0
  /** When the last answered message was sent. */
  #answeredFrom: BothClocks | null = null
  /** True if idle slots must be given back: a call waits elsewhere, or gateways hold more slots than exist. */
  contended = false
  /** The wait (ms) of the oldest call elsewhere, when the last message was sent. */
  #elsewhereMs: number | null = null

  constructor({ holder, leaseMs, inUse }: SlotHolderProtocolOptions) {
    this.#holder = holder
    this.#leaseMs = leaseMs
    this.#inUse = inUse
  }

  get joinCount(): number {
    return this.#joinCount
  }

  /** Slots that this holder has, in use or idle. */
  get slots(): number {
    return this.#grantedTotal - this.#returnedTotal
  }

  /** Slots that the gateway holds and does not use. */
  get idle(): number {
    return Math.max(0, this.slots - this.#inUse())
  }

  /** True if the slots may be used: the pool has answered recently enough to still count them. */
  leaseIsValid(now: BothClocks): boolean {
    if (this.#answeredFrom === null) return false
    const { monotonicMs, wallMs } = this.#answeredFrom
    const ageMs = Math.max(now.monotonicMs - monotonicMs, Math.abs(now.wallMs - wallMs))
    return ageMs < usedShare * this.#leaseMs
  }

  /** True if a freed slot may go to a call here that has waited `ageMs`, because no call elsewhere has waited longer. */
  mayKeepFor(ageMs: number, now: BothClocks): boolean {
    if (!this.contended) return true
    if (this.#elsewhereMs === null || this.#answeredFrom === null) return false
    return ageMs - (now.monotonicMs - this.#answeredFrom.monotonicMs) > this.#elsewhereMs
  }

  /**
   * True if slots may be returned. Slots in unanswered messages are lost if the pool never answers again, and
   * at least half must stay.
   */
  get mayReturn(): boolean {
    return this.#returnedTotal - this.#knownReturned < Math.max(1, this.slots / 2)
  }

  /** Gives back one slot that is no longer in use. */
  returnSlot(): void {
    this.#returnedTotal++
  }

  /** Gives back all idle slots. Returns true if there were any; the caller then sends a message. */
  returnIdle(): boolean {
    const { idle } = this
    this.#returnedTotal += idle
    return idle > 0
  }

  /**
   * Takes back returned slots that no message has reported, because the pool does not answer. Returns true if
   * there were any.
   */
  keepUnreported(): boolean {
    const isKept = this.#returnedTotal > this.#reportedReturned
    this.#returnedTotal = this.#reportedReturned
    return isKept
  }

  /** The next message. `ages` are the waits (ms) of calls without a slot, the longest first. */
  message(ages: readonly number[]): SlotSync {
    this.#reportedReturned = this.#returnedTotal
    return {
      holder: this.#holder,
      poolId: this.#poolId,
      joinCount: this.#joinCount,
      usedAtJoin: this.#usedAtJoin,
      returnedTotal: this.#returnedTotal,
      grantedTotal: this.#grantedTotal,
      ages,
    }
  }

  /**
   * Applies the answer to the message of `sent`. Returns true if another message must follow at once: the
   * holder has to join, or gave back idle slots.
   */
  applyAnswer(answer: SlotAnswer, sent: BothClocks & { readonly joinCount: number }): boolean {
    if (sent.joinCount !== this.#joinCount) return false
    if (!answer.known) {
      this.#joinAnew(answer.poolId)
      return true
    }
    this.#grantedTotal = Math.max(this.#grantedTotal, answer.grantedTotal)
    this.#knownReturned = this.#reportedReturned
    this.contended = answer.contended
    if (this.#answeredFrom === null || sent.monotonicMs > this.#answeredFrom.monotonicMs) {
      this.#answeredFrom = { monotonicMs: sent.monotonicMs, wallMs: sent.wallMs }
      this.#elsewhereMs = answer.elsewhereMs
    }
    // Slots are given back before a call begins, because a released holder that joined again may hold slots
    // that others have.
    return answer.contended && answer.elsewhereMs === null && this.returnIdle()
  }

  /** Joins again with exactly the slots in use. */
  #joinAnew(poolId: string): void {
    this.#poolId = poolId
    this.#joinCount++
    this.#usedAtJoin = this.#inUse()
    this.#grantedTotal = this.#usedAtJoin
    this.#returnedTotal = 0
    this.#reportedReturned = 0
    this.#knownReturned = 0
    this.#answeredFrom = null
  }
}
