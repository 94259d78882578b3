import type { RawHeaders } from '../../call/response-head.ts'
import { httpDateMs, plainNumber, retryAfterMs } from '../../lib/http/retry-after.ts'
import { headerPairs } from '../../lib/http/header-list.ts'

/** The advice of an answer about a retry. */
export interface RetryHint {
  /** The wait in milliseconds; `null` without a readable one. */
  readonly afterMs: number | null
  /** True after `x-should-retry: false`. */
  readonly forbidden: boolean
}

/**
 * Reads `retry-after-ms`, or else `retry-after` in seconds or as a date (RFC 9110 §10.2.3), and `x-should-retry`.
 * A date counts from the answer's own `Date`, so that a wrong clock does not matter; without that header, from `nowMs`
 * (Unix epoch).
 */
export function readRetryHint(headers: RawHeaders, nowMs: number): RetryHint {
  // If a header is repeated, its first value counts.
  const values = new Map(
    headerPairs(headers)
      .toReversed()
      .map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
  const fromMs = httpDateMs(values.get('date')) ?? nowMs
  const afterMs = plainNumber(values.get('retry-after-ms')) ?? retryAfterMs(values.get('retry-after'), fromMs)
  return { afterMs, forbidden: values.get('x-should-retry')?.toLowerCase() === 'false' }
}
