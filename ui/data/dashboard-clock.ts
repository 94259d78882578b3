/**
 * The time at the dashboard, in milliseconds since the Unix epoch: calls and ranges are of its clock, and a browser's
 * may be hours off.
 */
export function nowMs(): number {
  return Date.now() + offsetMs
}

/** The dashboard's clock minus the browser's, in milliseconds. */
export function clockOffsetMs(): number {
  return offsetMs
}

let offsetMs = 0

/** Learns from an answer's `Date` header; null where it has none. `sentMs` and `receivedMs` are of the browser's clock. */
export function learnTime(date: string | null, sentMs: number, receivedMs: number): void {
  offsetMs = fittingOffset(offsetMs, Date.parse(date ?? ''), sentMs, receivedMs)
}

/**
 * The offset nearest to the one that was known with which the second that `dateMs` begins lies between sending and
 * receiving: a browser whose clock is right keeps it as it is.
 */
export function fittingOffset(knownMs: number, dateMs: number, sentMs: number, receivedMs: number): number {
  if (Number.isNaN(dateMs)) return knownMs
  return Math.min(Math.max(knownMs, dateMs - receivedMs), dateMs + 1000 - sentMs)
}
