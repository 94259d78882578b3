import { parseIsoInstant } from '../lib/iso-instant.ts'

/** The instant from which a price holds, in milliseconds: an instant in ISO 8601, or a day, which begins in UTC. Null where it is neither. */
export function parsePriceTime(text: string): number | null {
  return parseIsoInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
}

/** The same of a text that was checked; one that is wrong after all is never reached. */
export function timeOf(text: string): number {
  return parsePriceTime(text) ?? Infinity
}
