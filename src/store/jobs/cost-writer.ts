import type { DatabaseSync } from 'node:sqlite'
import { type SummedCall, valueIn } from '../rollup/summed-calls.ts'
import { hourOf } from '../rollup/time-plan.ts'
import { noteChange } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

/** The cost columns of a row, in the order of {@link costColumns}. */
export type StoredCost = readonly [
  costNanoUsd: number | null,
  sourceId: number | null,
  keyId: number | null,
  cacheSavedNanoUsd: number | null,
]

export const costColumns = [
  'cost_nano_usd',
  'price_source_id',
  'price_key_id',
  'cache_saved_nano_usd',
] as const

/** A new cost for a call. */
export interface CostEdit {
  readonly call: SummedCall
  readonly cost: StoredCost
}

/**
 * Returns a function that writes costs of calls within the caller's transaction, and notes that the sums of
 * their hours must be computed again.
 */
export function costWriter(database: DatabaseSync): (edits: readonly CostEdit[]) => void {
  const statements = new RowStatements(database)
  const update = `UPDATE calls SET ${costColumns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`
  return (edits) => {
    for (const { call, cost } of edits) statements.run(update, ...cost, valueIn(call, 'id'))
    const hours = new Set(edits.map(({ call }) => hourOf(valueIn(call, 'id') ?? 0)))
    for (const hour of hours) noteChange(statements, hour)
  }
}
