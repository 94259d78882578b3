const mostEntries = 1000

/**
 * Remembers the answers of a pure function for keys that repeat, such as header values. Bounded: when full it
 * forgets everything, which costs a little once in a while and never more memory than a thousand entries.
 */
export class RecentMap<V> {
  readonly #compute: (key: string) => V
  readonly #longest: number
  readonly #entries = new Map<string, V>()

  /** Keys of more than `longest` characters are not remembered: they do not repeat. */
  constructor(compute: (key: string) => V, longest = Number.POSITIVE_INFINITY) {
    this.#compute = compute
    this.#longest = longest
  }

  get(key: string): V {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = this.#compute(key)
    if (key.length > this.#longest) return value
    if (this.#entries.size >= mostEntries) this.#entries.clear()
    this.#entries.set(key, value)
    return value
  }
}
