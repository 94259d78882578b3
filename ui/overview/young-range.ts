import type { Overview } from '../../src/api/overview.ts'
import type { LastRange } from '../data/page-address.ts'

const hourMs = 3_600_000

/**
 * The usual range that holds all calls there are, where they are all of the last hours: on the first day with a gateway
 * one sees them, and not a day without. Null where a day is what one wants to see.
 */
export function youngRange({
  recorded_from: first,
  to,
}: Pick<Overview, 'recorded_from' | 'to'>): LastRange | null {
  if (first === null) return null
  const ageMs = Date.parse(to) - Date.parse(first)
  if (ageMs <= hourMs) return '1h'
  return ageMs <= 6 * hourMs ? '6h' : null
}
