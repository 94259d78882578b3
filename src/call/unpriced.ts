import type { StoredCall } from './call-record.ts'

/** SQL condition on `calls`: the row has a usage, in tokens or search units. */
export const usedSql = '(usage_source_id <> 0 OR search_units IS NOT NULL)'

/** SQL condition on `calls` for the calls of {@link isUnpriced}. */
export const unpricedSql = `(cost_nano_usd IS NULL AND ${usedSql})`

/** True for a call with usage and no cost. A call without usage, such as a failed one, costs nothing. */
export function isUnpriced({
  usageSource,
  searchUnits,
  costNanoUsd,
}: Pick<StoredCall, 'usageSource' | 'searchUnits' | 'costNanoUsd'>): boolean {
  return costNanoUsd === null && (usageSource !== 'none' || searchUnits !== null)
}
