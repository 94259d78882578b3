import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type FigureRow, figureSources, valueIn } from '../rollup/call-figures.ts'
import { RollupSums } from '../rollup/rollup-sums.ts'

/** What a row says of its cost, in the order of {@link costColumns}. */
export type StoredCost = readonly [costNanoUsd: number | null, sourceId: number | null, keyId: number | null]

export const costColumns = ['cost_nano_usd', 'price_source_id', 'price_key_id'] as const

const costOffset = figureSources.indexOf('cost_nano_usd')

/** Gives calls other costs, and carries that over into the sums, within a transaction of whoever asks for it. */
export class CostWriter {
  readonly #sums: RollupSums
  readonly #update: StatementSync

  constructor(database: DatabaseSync) {
    this.#sums = new RollupSums(database)
    this.#update = database.prepare(
      `UPDATE calls SET ${costColumns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
    )
  }

  write(edits: readonly { readonly call: FigureRow; readonly cost: StoredCost }[]): void {
    for (const { call, cost } of edits) this.#update.run(...cost, valueIn(call, 'id'))
    this.#sums.change(
      edits.map(({ call, cost }) => ({ before: call, after: call.with(costOffset, cost[0]) })),
    )
  }
}
