import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** The only source of time, so that tests can control it. */
export interface Clock {
  /** Monotonic milliseconds with fractions, from an arbitrary start. */
  now(): number
  /** Milliseconds since the Unix epoch, whole; may jump when the machine's clock is set. */
  wallTime(): number
  /**
   * Calls back once after `ms`, unless cancelled by the returned function. A timer in the `background` does
   * not keep the process alive.
   */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void
  /** Resolves after `ms`; rejects with the signal's reason if it is aborted first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after: (ms, callback, options) => {
    const timer = setTimeout(callback, ms)
    if (options?.background === true) timer.unref()
    return () => clearTimeout(timer)
  },
  delay: async (ms, signal) => {
    try {
      await sleep(ms, undefined, signal === undefined ? {} : { signal })
    } catch (error) {
      // Node rejects with an `AbortError`, whose cause is the reason.
      signal?.throwIfAborted()
      throw error
    }
  },
}

/** The value of a promise, or `late` if it takes longer than `limitMs`. */
export async function withTimeout<T>(
  clock: Clock,
  limitMs: number,
  promise: Promise<T>,
): Promise<T | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const cancel = clock.after(limitMs, () => resolve('late'))
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
