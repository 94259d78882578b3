/** The instant that the reader points at, in whichever chart: all charts of a page mark it. */
export class Crosshair {
  #ms: number | null = null
  readonly #listeners = new Set<() => void>()

  /** Milliseconds since the Unix epoch; null while nothing is pointed at. */
  get ms(): number | null {
    return this.#ms
  }

  point(ms: number | null): void {
    if (ms === this.#ms) return
    this.#ms = ms
    for (const listener of this.#listeners) listener()
  }

  /** Calls back when it has moved, until the function that it answers is called. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
