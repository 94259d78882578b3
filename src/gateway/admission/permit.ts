import type { Placed } from '../../lib/swap-list.ts'
import type { Caller } from './admission.ts'

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

  [Symbol.dispose](): void {
    this.release()
  }
}
