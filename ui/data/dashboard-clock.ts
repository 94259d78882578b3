/**
 * Returns the dashboard's time in milliseconds since the Unix epoch. Calls and ranges use its clock, because a
 * browser's clock may be hours off.
 */
export function nowMs(): number {
  return Date.now() + offsetMs
}

/** Returns the dashboard's clock minus the browser's, in milliseconds. */
export function clockOffsetMs(): number {
  return offsetMs
}

let offsetMs = 0

/**
 * Updates the offset from an answer's `Date` header; null without one. `sentMs` and `receivedMs` are times of the
 * browser's clock.
 */
export function learnTime(date: string | null, sentMs: number, receivedMs: number): void {
  offsetMs = fittingOffset(offsetMs, Date.parse(date ?? ''), sentMs, receivedMs)
}

/**
 * Returns the offset nearest to `knownMs` that fits an answer. The answer's second, which begins at `dateMs`, was
 * between sending and receiving. So a correct browser clock keeps its offset of 0.
 */
export function fittingOffset(knownMs: number, dateMs: number, sentMs: number, receivedMs: number): number {
  if (Number.isNaN(dateMs)) return knownMs
  return Math.min(Math.max(knownMs, dateMs - receivedMs), dateMs + 1000 - sentMs)
}
