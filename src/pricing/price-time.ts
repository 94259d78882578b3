import { parseIsoInstant } from '../lib/iso-instant.ts'

/** When a price begins to hold, in milliseconds, of a text that was checked; one that is wrong after all is never reached. */
export function timeOf(text: string): number {
  return parseIsoInstant(text) ?? Infinity
}
