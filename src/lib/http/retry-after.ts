/**
 * Reads `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3): milliseconds from `fromMs` (Unix epoch), never below 0;
 * `null` where it says nothing that can be read. Fractions of a second are not in the RFC, and sent all the same.
 */
export function retryAfterMs(text: string | null | undefined, fromMs: number): number | null {
  const seconds = plainNumber(text)
  if (seconds !== null) return seconds * 1000
  const atMs = httpDateMs(text)
  return atMs === null ? null : Math.max(0, atMs - fromMs)
}

/** A number as such headers have it: digits, perhaps with a fraction. */
export function plainNumber(text: string | null | undefined): number | null {
  return typeof text === 'string' && /^\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : null
}

/** The three forms of an HTTP date (RFC 9110 §5.6.7), all of which are in GMT; the oldest does not say so. */
export function httpDateMs(text: string | null | undefined): number | null {
  if (typeof text !== 'string' || !/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return null
  const atMs = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : atMs
}
