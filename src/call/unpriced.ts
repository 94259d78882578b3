import type { StoredCall } from './call-record.ts'

/** Says how much it used, in tokens or in search units. Columns of `calls`. */
export const usedSql = '(usage_source_id <> 0 OR search_units IS NOT NULL)'

/** The same calls as {@link isUnpriced}. */
export const unpricedSql = `(cost_nano_usd IS NULL AND ${usedSql})`

/** True if a call says how much it used, and has no cost. A call that says nothing of it, such as a failed one, costs nothing. */
export function isUnpriced({
  usageSource,
  searchUnits,
  costNanoUsd,
}: Pick<StoredCall, 'usageSource' | 'searchUnits' | 'costNanoUsd'>): boolean {
  return costNanoUsd === null && (usageSource !== 'none' || searchUnits !== null)
}
