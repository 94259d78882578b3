import type { Clock } from '../call/clock.ts'

/** What a promise gives, or `late` where it takes longer. */
export async function within<T>(clock: Clock, limitMs: number, promise: Promise<T>): Promise<T | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const cancel = clock.after(limitMs, () => resolve('late'))
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
