import type { Clock } from '../../call/clock.ts'

/** Counts an attempt and answers 0, or how many milliseconds to wait until one would pass. */
export type AttemptLimit = (kind: string) => number

/** Lets so many attempts of one kind pass in any window of time; kinds are counted apart. */
export function attemptLimit(clock: Clock, max: number, windowMs: number): AttemptLimit {
  /** Those of the last window. */
  let attempts: readonly { readonly kind: string; readonly atMs: number }[] = []
  return (kind) => {
    const now = clock.now()
    attempts = attempts.filter(({ atMs }) => now - atMs < windowMs)
    const own = attempts.filter((attempt) => attempt.kind === kind)
    const [first = null] = own
    if (first !== null && own.length >= max) return first.atMs + windowMs - now
    attempts = [...attempts, { kind, atMs: now }]
    return 0
  }
}
