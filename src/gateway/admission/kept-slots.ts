import type { SlotAnswer, SlotSync } from './slot-pool.ts'

/** Of a lease, so that no slot is used later than the pool counts it. */
const usedShare = 0.9

export interface KeptSlotsOptions {
  readonly holder: string
  readonly leaseMs: number
}

/** A time by both clocks: the first stands still in a suspend, the second can be set. */
export interface BothClocks {
  readonly monotonicMs: number
  readonly wallMs: number
}

/**
 * The other side of {@link SlotPool}: the slots that one gateway holds, and which of them it uses. A pure machine. A slot that
 * becomes free while nobody elsewhere waits is kept for the next call, without a word.
 */
export class KeptSlots {
  readonly #holder: string
  readonly #leaseMs: number
  #epoch: string | null = null
  #life = 1
  #base = 0
  #granted = 0
  #given = 0
  /** When the last message was sent that was answered. */
  #answeredFrom: BothClocks | null = null
  #active = 0
  /** Somebody elsewhere waits, or there are fewer slots than are held: what is idle is to be given back. */
  contended = false

  constructor({ holder, leaseMs }: KeptSlotsOptions) {
    this.#holder = holder
    this.#leaseMs = leaseMs
  }

  /** Slots in use, those that cool among them. */
  get active(): number {
    return this.#active
  }

  get held(): number {
    return this.#granted - this.#given
  }

  /** Held and not in use. */
  get idle(): number {
    return Math.max(0, this.held - this.#active)
  }

  /** Whether it may use what it holds: it has heard from the pool so lately that the pool still counts it. */
  isSure(now: BothClocks): boolean {
    if (this.#answeredFrom === null) return false
    const { monotonicMs, wallMs } = this.#answeredFrom
    const ageMs = Math.max(now.monotonicMs - monotonicMs, Math.abs(now.wallMs - wallMs))
    return ageMs < usedShare * this.#leaseMs
  }

  /** Takes a slot for a call, if there is one. */
  take(now: BothClocks): boolean {
    if (this.idle === 0 || !this.isSure(now)) return false
    this.#active++
    return true
  }

  /** A call's slot is free again. True: it was given back, and the pool is to be told. */
  release(): boolean {
    this.#active--
    if (!this.contended) return false
    this.#given++
    return true
  }

  /** Gives back what is not in use. True: there was such a slot, and the pool is to be told. */
  giveIdle(): boolean {
    const { idle } = this
    this.#given += idle
    return idle > 0
  }

  /** `waiting`: since when calls wait for a slot that is not held already, the oldest first. */
  message(waiting: readonly number[]): SlotSync {
    return {
      holder: this.#holder,
      epoch: this.#epoch,
      life: this.#life,
      base: this.#base,
      given: this.#given,
      granted: this.#granted,
      waiting,
    }
  }

  /** To a message that was sent then. True: it has to join, and the pool is to be told at once. */
  answered(answer: SlotAnswer, sent: BothClocks & { readonly life: number }): boolean {
    if (sent.life !== this.#life) return false
    if (!answer.known) {
      this.#joinAnew(answer.epoch)
      return true
    }
    this.#granted = Math.max(this.#granted, answer.granted)
    this.contended = answer.contended
    if (this.#answeredFrom === null || sent.monotonicMs > this.#answeredFrom.monotonicMs) {
      this.#answeredFrom = { monotonicMs: sent.monotonicMs, wallMs: sent.wallMs }
    }
    return false
  }

  /** What it holds is what it uses, and what it uses counts from here on. */
  #joinAnew(epoch: string): void {
    this.#epoch = epoch
    this.#life++
    this.#base = this.#active
    this.#granted = this.#active
    this.#given = 0
    this.#answeredFrom = null
  }
}
