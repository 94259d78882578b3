/** The right to be in flight. Whoever is given one must give it back, on every path. */
export class Permit implements Disposable {
  #giveBack: (() => void) | null

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack
  }

  /** Gives the slot back; a second time does nothing. */
  release(): void {
    const giveBack = this.#giveBack
    if (giveBack === null) return
    this.#giveBack = null
    giveBack()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
