/** What a gateway tells the pool of slots that it shares. Messages may be lost, repeated, and overtake each other. */
export interface SlotSync {
  readonly holder: string
  /** The state of the pool that it knows; null before the first answer. */
  readonly epoch: string | null
  /** Counts how often it has joined: the first message of a life joins. */
  readonly life: number
  /** Slots that it used when this life began. */
  readonly base: number
  /** Slots given back in this life; it only grows. */
  readonly given: number
  /** The highest `granted` of an answer in this life, `base` before it. */
  readonly granted: number
  /** How long (ms) its oldest waiting calls have waited, the longest first: at most {@link mostAges}. */
  readonly ages: readonly number[]
}

export type SlotAnswer =
  /** The message counts for nothing: join, in a new life. */
  | { readonly known: false; readonly epoch: string }
  | {
      readonly known: true
      /** Slots that it got in this life, `base` among them; it only grows. */
      readonly granted: number
      /** Another gateway wants a slot, or there are fewer than are held: what becomes free is to be given back. */
      readonly contended: boolean
      /**
       * How long (ms) the oldest call elsewhere has waited: a slot may be kept for one that has waited longer. Null if there are
       * fewer slots than are held, or nobody waits elsewhere.
       */
      readonly elsewhereMs: number | null
    }

/** Waiting calls of which a gateway tells. */
export const mostAges = 16

/** Of a lease, so that no slot is used later than the pool counts it. */
const usedShare = 0.9

export interface KeptSlotsOptions {
  readonly holder: string
  readonly leaseMs: number
  /** Slots that calls here use, those that cool among them. */
  readonly inUse: () => number
}

/** A time by both clocks: the first stands still in a suspend, the second can be set. */
export interface BothClocks {
  readonly monotonicMs: number
  readonly wallMs: number
}

/**
 * The slots of the pool that one gateway holds: a pure machine. A slot that
 * becomes free while nobody elsewhere waits is kept for the next call, without a word.
 */
export class KeptSlots {
  readonly #holder: string
  readonly #leaseMs: number
  readonly #inUse: () => number
  #epoch: string | null = null
  #life = 1
  #base = 0
  #granted = 0
  #given = 0
  /** The most that a message of this life has said of `given`: the pool may know it. */
  #toldGiven = 0
  /** What the last message that was answered has said of `given`. */
  #knownGiven = 0
  /** When the last message was sent that was answered. */
  #answeredFrom: BothClocks | null = null
  /** Somebody elsewhere waits, or there are fewer slots than are held: what is idle is to be given back. */
  contended = false
  /** How long the oldest call elsewhere had waited when the last message was sent. */
  #elsewhereMs: number | null = null

  constructor({ holder, leaseMs, inUse }: KeptSlotsOptions) {
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

  /** Whether it may use what it holds: it has heard from the pool so lately that the pool still counts it. */
  isSure(now: BothClocks): boolean {
    if (this.#answeredFrom === null) return false
    const { monotonicMs, wallMs } = this.#answeredFrom
    const ageMs = Math.max(now.monotonicMs - monotonicMs, Math.abs(now.wallMs - wallMs))
    return ageMs < usedShare * this.#leaseMs
  }

  /** Whether a slot that is free may be kept for a call here that has waited so long (ms), as none elsewhere came before it. */
  mayKeepFor(ageMs: number, now: BothClocks): boolean {
    if (!this.contended) return true
    if (this.#elsewhereMs === null || this.#answeredFrom === null) return false
    return ageMs - (now.monotonicMs - this.#answeredFrom.monotonicMs) > this.#elsewhereMs
  }

  /** Whether it would keep at least half of its slots if the pool never answers again: what it was told of is lost then. */
  get mayGive(): boolean {
    return this.#given - this.#knownGiven < Math.max(1, this.held / 2)
  }

  /** Gives back one slot, which is not in use any more. */
  give(): void {
    this.#given++
  }

  /** Gives back what is not in use. True: there was such a slot, and the pool is to be told. */
  giveIdle(): boolean {
    const { idle } = this
    this.#given += idle
    return idle > 0
  }

  /** The pool does not answer: what was given back and is in no message yet is kept. True: there was such a slot. */
  keepUntold(): boolean {
    const isKept = this.#given > this.#toldGiven
    this.#given = this.#toldGiven
    return isKept
  }

  /** `ages`: how long (ms) calls have waited for a slot that is not held already, the longest first. */
  message(ages: readonly number[]): SlotSync {
    this.#toldGiven = this.#given
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
   * To a message that was sent then. True: it has to join, or gave back what was idle, as more slots are held than there are;
   * the pool is to be told at once.
   */
  answered(answer: SlotAnswer, sent: BothClocks & { readonly life: number }): boolean {
    if (sent.life !== this.#life) return false
    if (!answer.known) {
      this.#joinAnew(answer.epoch)
      return true
    }
    this.#granted = Math.max(this.#granted, answer.granted)
    this.#knownGiven = this.#toldGiven
    this.contended = answer.contended
    if (this.#answeredFrom === null || sent.monotonicMs > this.#answeredFrom.monotonicMs) {
      this.#answeredFrom = { monotonicMs: sent.monotonicMs, wallMs: sent.wallMs }
      this.#elsewhereMs = answer.elsewhereMs
    }
    // Before any call begins in them: a holder that was given up holds again what it used when it joined.
    return answer.contended && answer.elsewhereMs === null && this.giveIdle()
  }

  /** What it holds is what it uses, and what it uses counts from here on. */
  #joinAnew(epoch: string): void {
    this.#epoch = epoch
    this.#life++
    this.#base = this.#inUse()
    this.#granted = this.#base
    this.#given = 0
    this.#toldGiven = 0
    this.#knownGiven = 0
    this.#answeredFrom = null
  }
}
