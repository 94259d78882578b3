/** Instants as a field for date and time holds them: `2026-11-21T14:05`, of a zone that is not said. */

const minuteMs = 60_000

/** What a clock on the wall of the zone shows, to the minute. */
export function wallTimeOf(ms: number, zone: string): string {
  return new Date(ms + offsetMs(ms, zone)).toISOString().slice(0, 16)
}

/**
 * When a clock on the wall of the zone shows this, in milliseconds since the Unix epoch. Of two such instants it is
 * the first (clocks went back); of none, the instant as if they had not gone forward yet. Null for what is no time.
 */
export function instantOfWallTime(text: string, zone: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return null
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return null
  // No zone is further than a day from UTC, and none changes its clocks twice within two days.
  const [before, after] = [asUtc - dayMs, asUtc + dayMs].map((ms) => asUtc - offsetMs(ms, zone))
  if (before === undefined || after === undefined) return null
  return offsetMs(before, zone) === asUtc - before || offsetMs(after, zone) !== asUtc - after ? before : after
}

const dayMs = 24 * 60 * minuteMs

/** How far the zone's clocks are ahead of UTC at an instant. */
function offsetMs(ms: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms)
  const of = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value)
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return wall - Math.floor(ms / 1000) * 1000
}
