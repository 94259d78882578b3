/** Conversions for a field of date and time: `2026-11-21T14:05`, in the reader's zone or in UTC. */

const minuteMs = 60_000

/** Returns the local time as text, with seconds if they are not zero. */
export function wallTimeOf(ms: number, utc: boolean): string {
  const behindMs = utc ? 0 : new Date(ms).getTimezoneOffset() * minuteMs
  return new Date(ms - behindMs)
    .toISOString()
    .slice(0, -1)
    .replace(/(:00)?\.000$/, '')
}

/** Returns the local time as text, to the minute. */
export function wallMinuteOf(ms: number, utc: boolean): string {
  return wallTimeOf(ms, utc).slice(0, 16)
}

/**
 * Returns the instant of a local time, in milliseconds since the Unix epoch; null for another text. A time that
 * occurs twice, because clocks went back, means the first. A time that clocks skip is read as if they had not gone
 * forward yet.
 */
export function instantOfWallTime(text: string, utc: boolean): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return null
  const ms = Date.parse(utc ? `${text}Z` : text)
  return Number.isNaN(ms) ? null : ms
}
