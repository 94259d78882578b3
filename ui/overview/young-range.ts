import type { Overview } from '../../src/api/overview.ts'
import type { LastRange } from '../address/page-address.ts'

const hourMs = 3_600_000

/**
 * The usual range that holds all calls of a day, where they are all of its last hours: on the first day with a gateway
 * one sees them, and not a day without. Null where a day is what one wants to see.
 */
export function youngRange(day: Pick<Overview, 'buckets' | 'to' | 'previous'>): LastRange | null {
  const { buckets, to, previous } = day
  // Folded calls are old ones.
  if (previous === null || previous.calls > 0) return null
  const first = buckets.start_s[buckets.calls.findIndex((calls) => calls > 0)]
  if (first === undefined) return null
  const ageMs = Date.parse(to) - first * 1000
  if (ageMs <= hourMs) return '1h'
  return ageMs <= 6 * hourMs ? '6h' : null
}
