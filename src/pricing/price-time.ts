import * as v from 'valibot'
import type { PricePeriod } from '../api/costs.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { be } from '../options/schema.ts'

const words = 'a day such as 2026-11-21, an instant such as 2026-11-21T04:00:00Z, or null'

/** When a price starts, as a person writes it; null means from the beginning. */
export const priceTime = v.nullable(
  v.pipe(
    v.string(be(words)),
    v.check((value) => parseIsoInstant(value) !== null, be(words)),
    v.description(words),
  ),
)

/** The start of a price in ms since the Unix epoch, from a checked text; null means from the beginning. */
export function timeOf(from: string | null): number {
  return from === null ? -Infinity : (parseIsoInstant(from) ?? Infinity)
}

/** Compares prices by their start. */
export function byTime(
  a: Pick<PricePeriod, 'effective_from'>,
  b: Pick<PricePeriod, 'effective_from'>,
): number {
  return timeOf(a.effective_from) - timeOf(b.effective_from) || 0
}
