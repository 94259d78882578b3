const pattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(?:(Z)|([+\- ])(\d\d):?(\d\d))$/i

/**
 * The instant that a text in ISO 8601 names, in milliseconds since the Unix epoch, or null where it is none: it needs
 * date, time, and Z or an offset. A space before the offset is a plus sign that was not escaped in a URL.
 */
export function parseIsoInstant(text: string): number | null {
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
  return local.getTime() + timeMs - (match[9] === '-' ? -offsetMs : offsetMs)
}
