/**
 * Remembers the answers of a pure function for keys that repeat, such as header values. Bounded: when full it
 * forgets everything, which costs a little once in a while and never more memory than `limit` entries.
 */
export class RecentMap<V> {
  readonly #compute: (key: string) => V
  readonly #limit: number
  readonly #entries = new Map<string, V>()

  constructor(compute: (key: string) => V, limit = 1000) {
    this.#compute = compute
    this.#limit = limit
  }

  get(key: string): V {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = this.#compute(key)
    if (this.#entries.size >= this.#limit) this.#entries.clear()
    this.#entries.set(key, value)
    return value
  }
}
