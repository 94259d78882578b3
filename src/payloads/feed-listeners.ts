import type { PayloadListener } from '../call/payload-log.ts'

/** Who watches. One that throws is not told again. */
export class FeedListeners {
  readonly #listeners = new Set<PayloadListener>()
  readonly #onChange: () => void

  /** `onChange` is told when the first comes and when the last goes. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#listeners.size
  }

  add(listener: PayloadListener): Disposable {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#onChange()
    return { [Symbol.dispose]: () => this.#remove(listener) }
  }

  each(tell: (listener: PayloadListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        tell(listener)
      } catch {
        this.#remove(listener)
      }
    }
  }

  #remove(listener: PayloadListener): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onChange()
  }
}
