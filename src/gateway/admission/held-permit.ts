import type { Placed } from '../../lib/swap-list.ts'
import type { Caller, Permit } from './admission.ts'

/** A slot in use. */
export class HeldPermit implements Permit, Placed {
  place = -1
  readonly caller: Caller
  #giveBack: ((permit: HeldPermit) => void) | null

  constructor(caller: Caller, giveBack: (permit: HeldPermit) => void) {
    this.caller = caller
    this.#giveBack = giveBack
  }

  release(): void {
    const giveBack = this.#giveBack
    this.#giveBack = null
    giveBack?.(this)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
