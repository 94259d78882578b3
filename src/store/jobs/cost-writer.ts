import type { DatabaseSync } from 'node:sqlite'
import { type FigureRow, figureSources, valueIn } from '../rollup/call-figures.ts'
import { RollupSums } from '../rollup/rollup-sums.ts'

/** What a row says of its cost, in the order of {@link costColumns}. */
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

const costOffset = figureSources.indexOf('cost_nano_usd')
const savedOffset = figureSources.indexOf('cache_saved_nano_usd')

export interface CostEdit {
  readonly call: FigureRow
  readonly cost: StoredCost
}

/** Gives calls other costs, and carries that over into the sums, within a transaction of whoever asks for it. */
export function costWriter(database: DatabaseSync): (edits: readonly CostEdit[]) => void {
  const sums = new RollupSums(database)
  const update = database.prepare(
    `UPDATE calls SET ${costColumns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  )
  return (edits) => {
    for (const { call, cost } of edits) update.run(...cost, valueIn(call, 'id'))
    sums.change(
      edits.map(({ call, cost }) => ({
        before: call,
        after: call.with(costOffset, cost[0]).with(savedOffset, cost[3]),
      })),
    )
  }
}
