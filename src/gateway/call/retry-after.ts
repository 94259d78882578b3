import type { RawHeaders } from '../../call/call-observer.ts'

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
  const found = new Map<string, string>()
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? ''
    if (!found.has(name)) found.set(name, headers[i + 1]?.trim() ?? '')
  }
  const seconds = number(found.get('retry-after'))
  const afterMs =
    number(found.get('retry-after-ms')) ??
    (seconds === null
      ? untilDate(found.get('retry-after'), date(found.get('date')) ?? nowMs)
      : seconds * 1000)
  return { afterMs, forbidden: found.get('x-should-retry')?.toLowerCase() === 'false' }
}

/** Fractions are not in the RFC, and sent all the same. */
function number(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : null
}

function untilDate(text: string | undefined, fromMs: number): number | null {
  const atMs = date(text)
  return atMs === null ? null : Math.max(0, atMs - fromMs)
}

/** The three forms of an HTTP date (RFC 9110 §5.6.7), all of which are in GMT; the oldest does not say so. */
function date(text: string | undefined): number | null {
  if (text === undefined || !/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return null
  const atMs = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : atMs
}
