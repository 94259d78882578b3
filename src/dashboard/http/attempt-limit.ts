import type { Clock } from '../../call/clock.ts'

/** Lets so many attempts of one kind pass in any window of time: nobody's attempts cost another's. */
export class AttemptLimit {
  readonly #clock: Clock
  readonly #max: number
  readonly #windowMs: number
  /** Those of the last window. */
  #attempts: readonly { readonly kind: string; readonly atMs: number }[] = []

  constructor(clock: Clock, max: number, windowMs: number) {
    this.#clock = clock
    this.#max = max
    this.#windowMs = windowMs
  }

  /** Counts an attempt and answers 0, or how many milliseconds to wait until one would pass. */
  take(kind: string): number {
    const now = this.#clock.now()
    this.#attempts = this.#attempts.filter(({ atMs }) => now - atMs < this.#windowMs)
    const own = this.#attempts.filter((attempt) => attempt.kind === kind)
    const [first = null] = own
    if (first !== null && own.length >= this.#max) return first.atMs + this.#windowMs - now
    this.#attempts = [...this.#attempts, { kind, atMs: now }]
    return 0
  }
}
