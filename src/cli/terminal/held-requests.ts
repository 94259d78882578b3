/**
 * Most requests and most characters held. Beyond these the oldest are dropped: calls that run very long, or
 * whose answer was missed.
 */
const limits = { count: 10_000, length: 32 * 1024 * 1024 } as const

/** Requests, as texts by the ids of their calls, that wait for their answers. */
export class HeldRequests {
  readonly #byId = new Map<string, string>()
  #length = 0

  add(id: string, data: string): void {
    this.take(id)
    this.#byId.set(id, data)
    this.#length += data.length
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= limits.count && this.#length <= limits.length) break
      this.take(oldest)
    }
  }

  /** Removes and returns the request of a call; null if it is not held. */
  take(id: string): string | null {
    const data = this.#byId.get(id) ?? null
    this.#byId.delete(id)
    this.#length -= data?.length ?? 0
    return data
  }
}
