import { backoffMs } from '../../lib/backoff.ts'
import type { RetryHint } from '../limits/retry-after.ts'

/** Most time that a call waits for retries in all. A 429 that asks for longer goes to the client. */
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
 * The wait, in milliseconds, before a call is sent again after this 429; `null` if the 429 goes to
 * the client. The upstream's own time comes first; a time of 0 is ignored, because it would flood
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
