import type { SlotReport } from './slot-shares.ts'

/** The other side of {@link SlotShares}: what a gateway that finishes its calls may still use. */
export class GrantedSlots {
  #slots: number
  #seq = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  get slots(): number {
    return this.#slots
  }

  /** It will report to another gateway from now on, whose grants are counted anew. */
  startAnew(): void {
    this.#seq = 0
  }

  granted(seq: number, slots: number): void {
    this.#seq = seq
    this.#slots = slots
  }

  /** Gives up what its calls cannot use, and says so. */
  report(active: number, queued: number): SlotReport {
    const wanted = active + queued
    this.#slots = Math.min(this.#slots, wanted)
    return { seq: this.#seq, slots: this.#slots, active, wanted }
  }
}
