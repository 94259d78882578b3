import { backoffMs } from '../../lib/backoff.ts'
import type { RetryHint } from '../limits/retry-after.ts'

/** The waits of one call never sum to more: whoever asks for longer is to be heard by the client itself. */
export const longestWaitsMs = 60_000
/** Shortest wait: a shorter one only loads the upstream and the queue. */
const shortestWaitMs = 100
const backoff = { firstMs: 500, longestMs: 30_000 } as const

/** The retries of a call so far. */
export interface RetriesSoFar {
  /** Attempts that were sent again. */
  readonly retries: number
  /** Sum of the waits before them. */
  readonly waitedMs: number
}

export const noRetries: RetriesSoFar = { retries: 0, waitedMs: 0 }

/**
 * How long to wait before the call that got this 429 is sent again, in milliseconds, or `null` where the 429 is
 * the client's. Where the upstream says how long, that holds; 0 says nothing, as it would mean to hammer at
 * it. Otherwise exponential backoff with full jitter, so that calls refused together do not come back together. No wait
 * is shorter than 100 ms.
 * `random` is from 0 up to 1.
 */
export function retryWaitMs(
  hint: RetryHint,
  soFar: RetriesSoFar,
  maxRetries: number,
  random: number,
): number | null {
  if (hint.forbidden || soFar.retries >= maxRetries) return null
  const backedOffMs = backoffMs(backoff, soFar.retries + 1) * random
  const wantedMs = hint.afterMs !== null && hint.afterMs > 0 ? hint.afterMs : backedOffMs
  const waitMs = Math.max(shortestWaitMs, wantedMs)
  return soFar.waitedMs + waitMs > longestWaitsMs ? null : waitMs
}
