/** A gateway's message to the pool of shared slots. Messages may be lost, repeated, and overtake each other. */
export interface SlotSync {
  readonly holder: string
  /** Names the pool's state that the gateway knows; null before the first answer. */
  readonly epoch: string | null
  /** Counts the gateway's joins: the first message of a life joins. */
  readonly life: number
  /** Slots in use when this life began. */
  readonly base: number
  /** Slots given back in this life; only grows. */
  readonly given: number
  /** The highest `granted` of an answer in this life, `base` before it. */
  readonly granted: number
  /** Waits (ms) of the oldest waiting calls, the longest first: at most {@link mostAges}. */
  readonly ages: readonly number[]
}

export type SlotAnswer =
  /** The pool does not know this holder: it has to join in a new life. */
  | { readonly known: false; readonly epoch: string }
  | {
      readonly known: true
      /** Slots granted in this life, with `base`; only grows. */
      readonly granted: number
      /** Freed slots are to be given back: another gateway needs one, or more are held than exist. */
      readonly contended: boolean
      /**
       * The wait (ms) of the oldest call elsewhere: a call here that has waited longer may keep a freed slot. Null if nobody waits
       * elsewhere, or more slots are held than exist.
       */
      readonly elsewhereMs: number | null
    }

/** Most waiting calls in a message. */
export const mostAges = 16

/** Share of a lease after which no slot is used, so that a holder stops before the pool does. */
const usedShare = 0.9

export interface SlotHolderProtocolOptions {
  readonly holder: string
  readonly leaseMs: number
  /** Slots in use here, with those that cool. */
  readonly inUse: () => number
}

/** A time by both clocks: the monotonic one stops in a suspend, the wall clock can be set. */
export interface BothClocks {
  readonly monotonicMs: number
  readonly wallMs: number
}

/**
 * A holder's side of the slot protocol: a pure machine. A freed slot is kept for the next call, without a message, while
 * nobody waits elsewhere.
 */
export class SlotHolderProtocol {
  readonly #holder: string
  readonly #leaseMs: number
  readonly #inUse: () => number
  #epoch: string | null = null
  #life = 1
  #base = 0
  #granted = 0
  #given = 0
  /** The highest `given` in a message of this life: the pool may know it. */
  #reportedGiven = 0
  /** `given` of the last answered message. */
  #knownGiven = 0
  /** When the last answered message was sent. */
  #answeredFrom: BothClocks | null = null
  /** Idle slots are to be given back: a call waits elsewhere, or more slots are held than exist. */
  contended = false
  /** The wait of the oldest call elsewhere when the last message was sent. */
  #elsewhereMs: number | null = null

  constructor({ holder, leaseMs, inUse }: SlotHolderProtocolOptions) {
    this.#holder = holder
    this.#leaseMs = leaseMs
    this.#inUse = inUse
  }

  get life(): number {
    return this.#life
  }

  get held(): number {
    return this.#granted - this.#given
  }

  /** Held and not in use. */
  get idle(): number {
    return Math.max(0, this.held - this.#inUse())
  }

  /** Its slots may be used: the pool answered recently enough to count them still. */
  leaseIsValid(now: BothClocks): boolean {
    if (this.#answeredFrom === null) return false
    const { monotonicMs, wallMs } = this.#answeredFrom
    const ageMs = Math.max(now.monotonicMs - monotonicMs, Math.abs(now.wallMs - wallMs))
    return ageMs < usedShare * this.#leaseMs
  }

  /** A freed slot may be kept for a call here that has waited `ageMs`: no call elsewhere has waited longer. */
  mayKeepFor(ageMs: number, now: BothClocks): boolean {
    if (!this.contended) return true
    if (this.#elsewhereMs === null || this.#answeredFrom === null) return false
    return ageMs - (now.monotonicMs - this.#answeredFrom.monotonicMs) > this.#elsewhereMs
  }

  /** At least half of its slots would stay if the pool never answered again: slots in unanswered messages would be lost. */
  get mayGive(): boolean {
    return this.#given - this.#knownGiven < Math.max(1, this.held / 2)
  }

  /** Gives back one slot that is no longer in use. */
  give(): void {
    this.#given++
  }

  /** Gives back all idle slots. Returns whether there were any; then send a message. */
  giveIdle(): boolean {
    const { idle } = this
    this.#given += idle
    return idle > 0
  }

  /** Takes back slots that no message has reported, because the pool does not answer. Returns whether there were any. */
  keepUnreported(): boolean {
    const isKept = this.#given > this.#reportedGiven
    this.#given = this.#reportedGiven
    return isKept
  }

  /** The next message. `ages` are the waits (ms) of calls without a slot, the longest first. */
  message(ages: readonly number[]): SlotSync {
    this.#reportedGiven = this.#given
    return {
      holder: this.#holder,
      epoch: this.#epoch,
      life: this.#life,
      base: this.#base,
      given: this.#given,
      granted: this.#granted,
      ages,
    }
  }

  /**
   * Applies the answer to the message sent at `sent`. Returns true if another message is due at once: the holder has to join,
   * or gave back idle slots because more are held than exist.
   */
  answered(answer: SlotAnswer, sent: BothClocks & { readonly life: number }): boolean {
    if (sent.life !== this.#life) return false
    if (!answer.known) {
      this.#joinAnew(answer.epoch)
      return true
    }
    this.#granted = Math.max(this.#granted, answer.granted)
    this.#knownGiven = this.#reportedGiven
    this.contended = answer.contended
    if (this.#answeredFrom === null || sent.monotonicMs > this.#answeredFrom.monotonicMs) {
      this.#answeredFrom = { monotonicMs: sent.monotonicMs, wallMs: sent.wallMs }
      this.#elsewhereMs = answer.elsewhereMs
    }
    // Give back before a call begins: a released holder that joined again may hold slots that others have.
    return answer.contended && answer.elsewhereMs === null && this.giveIdle()
  }

  /** Begins a new life that holds exactly the slots in use. */
  #joinAnew(epoch: string): void {
    this.#epoch = epoch
    this.#life++
    this.#base = this.#inUse()
    this.#granted = this.#base
    this.#given = 0
    this.#reportedGiven = 0
    this.#knownGiven = 0
    this.#answeredFrom = null
  }
}
