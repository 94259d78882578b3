const pattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(?:(Z)|([+\- ])(\d\d):?(\d\d))?)?$/i

/** A parsed text in ISO 8601. */
export interface IsoTime {
  /** Milliseconds since the Unix epoch; a local time counts as if it were UTC. */
  readonly ms: number
  /** True for a text without Z and offset, whose instant depends on a time zone. */
  readonly isLocal: boolean
}

/** The instant of a text in ISO 8601, in ms since the Unix epoch (without an offset: UTC); null for any other text. */
export function parseIsoInstant(text: string): number | null {
  return parseIsoTime(text)?.ms ?? null
}

/**
 * Reads a date (its midnight), or a date with a time, with or without Z or an offset; null for any other
 * text. A space before the offset is read as a plus sign that was not escaped in a URL.
 */
export function parseIsoTime(text: string): IsoTime | null {
  const match = pattern.exec(text)
  if (match === null) return null
  const number = (index: number): number => Number(match[index] ?? 0)
  const [month, day] = [number(2), number(3)]
  const [hour, minute, second, fraction] = [number(4), number(5), number(6), number(7)]
  const [offsetHour, offsetMinute] = [number(10), number(11)]
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null
  const local = new Date(0)
  local.setUTCFullYear(number(1), month - 1, day)
  // A day that the month does not have would become a day of the next month.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return null
  const timeMs = ((hour * 60 + minute) * 60 + second) * 1000 + fraction * 1000
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000
  const ms = local.getTime() + timeMs - (match[9] === '-' ? -offsetMs : offsetMs)
  return { ms, isLocal: match[8] === undefined && match[9] === undefined }
}
