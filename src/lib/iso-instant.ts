const pattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(?:(Z)|([+\- ])(\d\d):?(\d\d))?)?$/i

/** What a text in ISO 8601 names. */
export interface IsoTime {
  /** Milliseconds since the Unix epoch; of a local time, as if it were in UTC. */
  readonly ms: number
  /** Without Z and offset: which instant it is depends on a time zone. */
  readonly isLocal: boolean
}

/** The instant that a text in ISO 8601 names, in milliseconds since the Unix epoch: without an offset in UTC. */
export function parseIsoInstant(text: string): number | null {
  return parseIsoTime(text)?.ms ?? null
}

/**
 * Reads a date, which is its midnight, or a date with a time, with or without Z or an offset; null for anything else.
 * A space before the offset is a plus sign that was not escaped in a URL.
 */
export function parseIsoTime(text: string): IsoTime | null {
  const match = pattern.exec(text)
  if (match === null) return null
  const number = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (hour > 23 || minute > 59 || second > 59 || number(10) > 23 || number(11) > 59) return null
  const local = new Date(0)
  local.setUTCFullYear(year, month - 1, day)
  // A day that the month does not have would be one of the next month.
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return null
  const timeMs = ((hour * 60 + minute) * 60 + second) * 1000 + number(7) * 1000
  const offsetMs = (number(10) * 60 + number(11)) * 60_000
  const ms = local.getTime() + timeMs - (match[9] === '-' ? -offsetMs : offsetMs)
  return { ms, isLocal: match[8] === undefined && match[9] === undefined }
}
