import type { RawHeaders } from '../../call/response-head.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { contentCoding } from '../../lib/http/content-coding.ts'
import { type RetryHint, finalCodes } from '../limits/limit-headers.ts'
import { readAnswerHead } from '../meter/answer-form.ts'
import { readError } from '../meter/read-error.ts'

/** Most time (ms) that a call waits for all its retries. A 429 that asks for more goes to the client. */
export const longestWaitsMs = 60_000
/** Shortest wait in ms. A shorter wait would only load the upstream and the queue. */
const shortestWaitMs = 100
/** Most bytes of a decoded refusal; refusals are short. */
const longestText = 1024 * 1024
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

/** True if the body of a 429 says that a retry is useless. */
export function isFinalRefusal(headers: RawHeaders, body: Buffer): boolean {
  try {
    const { coding } = readAnswerHead(headers)
    const text = coding === null ? body : contentCoding(coding)?.decode(body, longestText)
    const { code } = readError(JSON.parse((text ?? '').toString()), 429)
    return code !== null && finalCodes.has(code)
  } catch {
    // An unreadable body gives no reason.
    return false
  }
}
