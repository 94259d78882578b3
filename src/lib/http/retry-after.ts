/**
 * Reads `Retry-After`, in seconds or as a date (RFC 9110 §10.2.3). Returns milliseconds from `fromMs` (Unix
 * time), never below 0; `null` for an unreadable value. Fractions of a second are accepted, because servers
 * send them against the RFC.
 */
export function retryAfterMs(text: string | null | undefined, fromMs: number): number | null {
  const seconds = plainNumber(text)
  if (seconds !== null) return seconds * 1000
  const atMs = httpDateMs(text)
  return atMs === null ? null : Math.max(0, atMs - fromMs)
}

/** A number in such a header: digits, perhaps with a fraction; null for any other text. */
export function plainNumber(text: string | null | undefined): number | null {
  return typeof text === 'string' && /^\d{1,12}(?:\.\d{1,12})?$/.test(text) ? Number(text) : null
}

/**
 * The instant of an HTTP date in ms since the Unix epoch; null for any other text. All three forms (RFC 9110
 * §5.6.7) are in GMT, which the oldest does not say.
 */
export function httpDateMs(text: string | null | undefined): number | null {
  if (typeof text !== 'string' || !/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return null
  const atMs = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : atMs
}
