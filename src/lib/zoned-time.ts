import { orNull } from './errors.ts'

/** Units of local time: an hour is one of the wall clock, and a day lasts from one local date to the next. */
export type ZonedUnit = 'minute' | 'hour' | 'day'

const unitMs: Readonly<Record<ZonedUnit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** No time zone changes its offset twice within this time. */
const calmMs = 86_400_000
const offsetFormat = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/
/** Longer than any local day. */
const overADayMs = 36 * 3_600_000

/** An IANA time zone, and where its local hours and days begin. Instants are ms since the Unix epoch. */
export class ZonedTime {
  readonly #format: Intl.DateTimeFormat
  /** From `#calmFromMs` to `#calmUntilMs` the offset is `#calmOffsetMs`. The cache saves formatting, which is slow. */
  #calmFromMs = 0
  #calmUntilMs = -1
  #calmOffsetMs = 0

  /** Throws a `RangeError` for an unknown zone. */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  /** Local time minus UTC, in milliseconds (whole seconds). */
  offsetMs(instantMs: number): number {
    if (instantMs >= this.#calmFromMs && instantMs <= this.#calmUntilMs) return this.#calmOffsetMs
    const offsetMs = this.#formattedOffsetMs(instantMs)
    if (this.#formattedOffsetMs(instantMs + calmMs) === offsetMs) {
      this.#calmFromMs = instantMs
      this.#calmUntilMs = instantMs + calmMs
      this.#calmOffsetMs = offsetMs
    }
    return offsetMs
  }

  /**
   * The instant of a local time, which is given as if it were UTC. A repeated local time gives its first
   * instant; a skipped one is moved forward by the skipped time.
   */
  instantOf(localMs: number): number {
    const instants = [localMs - calmMs, localMs + calmMs].map((nearMs) => localMs - this.offsetMs(nearMs))
    const shown = instants.filter((instantMs) => instantMs + this.offsetMs(instantMs) === localMs)
    return shown.length > 0 ? Math.min(...shown) : Math.max(...instants)
  }

  /**
   * Starts of the units from `fromMs` (inclusive) to `toMs` (exclusive), and the end of the last unit. The
   * first edge is at or before `fromMs`, the last at or after `toMs`. Stops after `limit` units. An hour or
   * minute also ends where the clocks change, so that each has a single offset.
   */
  edges(unit: ZonedUnit, fromMs: number, toMs: number, limit: number = Number.POSITIVE_INFINITY): number[] {
    const edges = [this.startOf(unit, fromMs)]
    for (let at = edges[0] ?? 0; at < toMs && edges.length <= limit;) {
      at = this.#next(unit, at)
      edges.push(at)
    }
    return edges
  }

  /** The start of the unit that contains an instant. */
  startOf(unit: ZonedUnit, instantMs: number): number {
    // The search goes forward from a day before, because backwards a repeated local hour would be ambiguous.
    let start = instantMs - (unit === 'day' ? overADayMs : unitMs[unit] + unitMs.minute)
    for (let next = this.#next(unit, start); next <= instantMs; next = this.#next(unit, start)) start = next
    return start
  }

  /** Name of the unit that begins at an instant: `2026-11-21` for a day, else the start in ISO 8601 with its offset. */
  key(unit: ZonedUnit, startMs: number): string {
    const offsetMs = this.offsetMs(startMs)
    const local = new Date(startMs + offsetMs).toISOString()
    return unit === 'day' ? local.slice(0, 10) : `${local.slice(0, 19)}${offsetText(offsetMs)}`
  }

  #next(unit: ZonedUnit, instantMs: number): number {
    const offsetMs = this.offsetMs(instantMs)
    const nextLocalMs = (Math.floor((instantMs + offsetMs) / unitMs[unit]) + 1) * unitMs[unit]
    const nextMs = nextLocalMs - offsetMs
    if (this.offsetMs(nextMs) === offsetMs) return nextMs
    const changeMs = this.#changeBetween(instantMs, nextMs, offsetMs)
    if (unit !== 'day') return changeMs
    const later = nextLocalMs - this.offsetMs(changeMs)
    return Math.max(changeMs, later)
  }

  /** The first instant (to the second) after `fromMs` with another offset. */
  #changeBetween(fromMs: number, toMs: number, offsetMs: number): number {
    let before = Math.floor(fromMs / 1000)
    let after = Math.ceil(toMs / 1000)
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (this.offsetMs(middle * 1000) === offsetMs) before = middle
      else after = middle
    }
    return after * 1000
  }

  /** The offset from the formatted time, which ends in `GMT`, `GMT-03:30` or, in old times, `GMT+00:53:28`. */
  #formattedOffsetMs(instantMs: number): number {
    const [, sign, ...parts] = offsetFormat.exec(this.#format.format(instantMs)) ?? []
    const [hours, minutes, seconds] = parts.map((part: string | undefined) => Number(part ?? 0))
    const offsetMs = (((hours ?? 0) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000
    return sign === '-' ? -offsetMs : offsetMs
  }
}

/** True if there is such a time zone. */
export function isTimeZone(text: string): boolean {
  return orNull(() => new Intl.DateTimeFormat('en-US', { timeZone: text })) !== null
}

/**
 * The zone of this machine. A zone that has no name here, as of an empty or unknown `TZ`, is its present offset from UTC,
 * such as `-03:00`.
 */
export function ownTimeZone(): string {
  // Node may answer undefined, and Chromium a name that no format takes.
  const name: unknown = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (typeof name === 'string' && /^[a-z]/i.test(name) && isTimeZone(name)) return name
  const offset = offsetText(-60_000 * new Date().getTimezoneOffset())
  return offset === 'Z' ? 'UTC' : offset
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Z'
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
