import type { PricePeriod } from '../api/costs.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { type JsonCheck, only } from '../options/json-check.ts'

/** When a price begins to hold, as a person writes it; null is from the beginning. */
export const priceTime: JsonCheck<string | null> = only(
  'a day such as 2026-11-21, an instant such as 2026-11-21T04:00:00Z, or null',
  (value): value is string | null =>
    value === null || (typeof value === 'string' && parseIsoInstant(value) !== null),
  { type: ['string', 'null'] },
)

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
