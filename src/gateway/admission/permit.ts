import type { Placed } from '../../lib/swap-list.ts'
import type { Caller } from './admission.ts'

/** The right to be in flight: a slot in use. Whoever is given one must give it back, on every path. */
export class Permit implements Placed {
  place = -1
  readonly caller: Caller
  #giveBack: ((permit: Permit) => void) | null

  constructor(caller: Caller, giveBack: (permit: Permit) => void) {
    this.caller = caller
    this.#giveBack = giveBack
  }

  /** Gives the slot back; a second time does nothing. */
  release(): void {
    const giveBack = this.#giveBack
    this.#giveBack = null
    giveBack?.(this)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
