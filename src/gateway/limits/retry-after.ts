import type { RawHeaders } from '../../call/response-head.ts'
import { httpDateMs, plainNumber, retryAfterMs } from '../../lib/http/retry-after.ts'
import { headerPairs } from '../../lib/http/header-list.ts'

/** How an answer wants to be tried again. */
export interface RetryHint {
  /** Milliseconds that it asks to wait; `null` where it does not say, or nothing that can be read. */
  readonly afterMs: number | null
  /** `x-should-retry: false`. */
  readonly forbidden: boolean
}

/**
 * Reads `retry-after-ms`, or else `retry-after` in seconds or as a date (RFC 9110 §10.2.3), and `x-should-retry`.
 * A date counts from the answer's own `Date`, so that it does not matter whose clock is wrong; from `nowMs`
 * (Unix epoch) where it has none.
 */
export function readRetryHint(headers: RawHeaders, nowMs: number): RetryHint {
  // The first of a name holds.
  const found = new Map(
    headerPairs(headers)
      .toReversed()
      .map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
  const fromMs = httpDateMs(found.get('date')) ?? nowMs
  const afterMs = plainNumber(found.get('retry-after-ms')) ?? retryAfterMs(found.get('retry-after'), fromMs)
  return { afterMs, forbidden: found.get('x-should-retry')?.toLowerCase() === 'false' }
}
