import type { Clock } from '../../call/clock.ts'

/** Lets so many attempts of one kind pass in any window of time: nobody's attempts cost another's. */
export class AttemptLimit {
  readonly #clock: Clock
  readonly #max: number
  readonly #windowMs: number
  readonly #attempts = new Map<string, readonly number[]>()

  constructor(clock: Clock, max: number, windowMs: number) {
    this.#clock = clock
    this.#max = max
    this.#windowMs = windowMs
  }

  /** Counts an attempt and answers 0, or how many milliseconds to wait until one would pass. */
  take(kind: string): number {
    const now = this.#clock.now()
    this.#forgetOld(now)
    const atMs = this.#attempts.get(kind) ?? []
    const [first = now] = atMs
    if (atMs.length >= this.#max) return first + this.#windowMs - now
    this.#attempts.set(kind, [...atMs, now])
    return 0
  }

  #forgetOld(now: number): void {
    for (const [kind, atMs] of this.#attempts) {
      const fresh = atMs.filter((each) => now - each < this.#windowMs)
      if (fresh.length === 0) this.#attempts.delete(kind)
      else this.#attempts.set(kind, fresh)
    }
  }
}
