import { backoffMs } from '../../lib/backoff.ts'
import type { RetryHint } from '../limits/limit-headers.ts'

/** Most time (ms) that a call waits for all its retries. A 429 that asks for more goes to the client. */
export const longestWaitsMs = 60_000
/** Shortest wait in ms. A shorter wait would only load the upstream and the queue. */
const shortestWaitMs = 100
const backoff = { firstMs: 500, longestMs: 30_000 } as const

/** The retries of a call so far. */
export interface RetriesSoFar {
  /** Attempts that were sent again. */
  readonly retries: number
  /** Sum of the waits (ms) before these attempts. */
  readonly waitedMs: number
}

export const noRetries: RetriesSoFar = { retries: 0, waitedMs: 0 }

/**
 * The wait in ms before a call is sent again after this 429; `null` if the 429 goes to the client. The
 * upstream's own time counts first; a time of 0 is ignored, because retries would flood the upstream. Without
 * it, exponential backoff with full jitter spreads calls that were refused together. No wait is shorter than
 * 100 ms. `random` is from 0 to below 1.
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
