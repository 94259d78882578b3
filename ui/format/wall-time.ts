/** Instants as a field for date and time holds them: `2026-11-21T14:05`, of the reader's zone or of UTC. */

const minuteMs = 60_000

/** The local time as text, with seconds if they are not zero. */
export function wallTimeOf(ms: number, utc: boolean): string {
  const behindMs = utc ? 0 : new Date(ms).getTimezoneOffset() * minuteMs
  return new Date(ms - behindMs)
    .toISOString()
    .slice(0, -1)
    .replace(/(:00)?\.000$/, '')
}

/** The minute that it shows. */
export function wallMinuteOf(ms: number, utc: boolean): string {
  return wallTimeOf(ms, utc).slice(0, 16)
}

/**
 * The instant of a local time, in milliseconds since the Unix epoch. Of two such instants it is the first
 * (clocks went back); of none, the instant as if clocks had not gone forward yet. Null if the text is no time.
 */
export function instantOfWallTime(text: string, utc: boolean): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return null
  const ms = Date.parse(utc ? `${text}Z` : text)
  return Number.isNaN(ms) ? null : ms
}
