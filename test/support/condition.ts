/** How long a test waits for something before it says what never came: longer than a busy machine needs. */
const defaultLimitMs = 20_000

interface Waiter {
  /** True when the waiter has been served. */
  readonly look: () => boolean
  readonly fail: (error: Error) => void
}

/**
 * Lets a test wait for a state instead of sleeping: whoever changes the state calls `changed()`, and every
 * probe that then answers something other than `undefined` settles its promise.
 */
export class Condition {
  readonly #waiters = new Set<Waiter>()

  changed(): void {
    for (const waiter of this.#waiters) {
      if (waiter.look()) this.#waiters.delete(waiter)
    }
  }

  /** Ends every wait with an error: the state will not change any more. */
  close(reason: string): void {
    for (const waiter of this.#waiters) waiter.fail(new Error(reason))
    this.#waiters.clear()
  }

  /** The first answer of `probe` that is not `undefined`; rejects with `what` after `limitMs`. */
  until<T>(probe: () => T | undefined, what: string, limitMs: number = defaultLimitMs): Promise<T> {
    const first = probe()
    if (first !== undefined) return Promise.resolve(first)
    return new Promise<T>((resolve, reject) => {
      const waiter: Waiter = {
        look: () => {
          const answer = probe()
          if (answer === undefined) return false
          clearTimeout(limit)
          resolve(answer)
          return true
        },
        fail: (error) => {
          clearTimeout(limit)
          reject(error)
        },
      }
      const limit = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(new Error(`waited ${limitMs} ms in vain for ${what}`))
      }, limitMs)
      this.#waiters.add(waiter)
    })
  }
}
