import type { GroupFigures } from '../../src/call/figures.ts'

/**
 * Returns the mean cost of a thousand calls in USD, because the cost of one call may be tiny. Null if no call has a
 * price.
 */
export function costPerThousand({
  calls,
  cost_usd: cost,
  unpriced_calls: unpriced,
  no_usage_calls: untold,
}: Pick<GroupFigures, 'calls' | 'cost_usd' | 'unpriced_calls' | 'no_usage_calls'>): number | null {
  const priced = calls - unpriced - untold
  return cost === null || priced <= 0 ? null : (cost / priced) * 1000
}
