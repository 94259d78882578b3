import type { PricePeriod } from '../api/costs.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'

/** Says if a value is a text that names an instant, or a day. */
export function isInstant(value: unknown): value is string {
  return typeof value === 'string' && parseIsoInstant(value) !== null
}

/** When a price begins to hold, in milliseconds since the Unix epoch, of a text that was checked; null is from the beginning. */
export function timeOf(from: string | null): number {
  return from === null ? -Infinity : (parseIsoInstant(from) ?? Infinity)
}

/** In the order in which prices begin to hold. */
export function byTime(
  a: Pick<PricePeriod, 'effective_from'>,
  b: Pick<PricePeriod, 'effective_from'>,
): number {
  return timeOf(a.effective_from) - timeOf(b.effective_from) || 0
}
