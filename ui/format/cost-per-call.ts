import type { GroupFigures } from '../../src/call/figures.ts'

/** The average cost of a priced call; null if none has a price. */
export function costPerCall({
  calls,
  cost_usd: cost,
  unpriced_calls: unpriced,
  no_usage_calls: untold,
}: Pick<GroupFigures, 'calls' | 'cost_usd' | 'unpriced_calls' | 'no_usage_calls'>): number | null {
  const priced = calls - unpriced - untold
  return cost === null || priced <= 0 ? null : cost / priced
}
