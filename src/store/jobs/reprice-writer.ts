import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type FigureRow, valueIn } from '../rollup/call-figures.ts'
import type { CallCost } from '../write/call-pricer.ts'
import { RollupDeltas } from '../rollup/rollup-deltas.ts'

/** Which calls are priced anew. */
export interface RepriceSelection {
  /** Milliseconds since the Unix epoch, inclusive. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Only calls that asked for this model. */
  readonly modelId: number | null
  /** Only calls with usage and no price. */
  readonly onlyUnpriced: boolean
}

/** What a row says, or said, of its cost. */
export interface StoredCost {
  readonly costNanoUsd: number | null
  readonly sourceId: number | null
  readonly keyId: number | null
}

/** A call with another cost than before. */
export interface CostEdit {
  readonly call: FigureRow
  readonly old: StoredCost
  /** Null where no price is known. */
  readonly cost: CallCost | null
}

/** Gives calls other costs, carries that over into the sums, and keeps what was there, each time in one transaction. */
export class RepriceWriter {
  readonly #database: DatabaseSync
  readonly #nowMs: () => number
  readonly #deltas: RollupDeltas
  readonly #update: StatementSync
  readonly #keep: StatementSync
  readonly #addRun: StatementSync
  readonly #findLabel: StatementSync
  readonly #addLabel: StatementSync
  #runId: number | null = null

  constructor(database: DatabaseSync, nowMs: () => number) {
    this.#database = database
    this.#nowMs = nowMs
    this.#deltas = new RollupDeltas(database)
    this.#update = database.prepare(
      'UPDATE calls SET cost_nano_usd = ?, price_source_id = ?, price_key_id = ? WHERE id = ?',
    )
    this.#keep = database.prepare('INSERT INTO repriced VALUES (?, ?, ?, ?, ?)')
    this.#addRun = database.prepare(
      'INSERT INTO reprice_runs (at_ms, from_ms, to_ms, model_id) VALUES (?, ?, ?, ?)',
    )
    this.#findLabel = database.prepare('SELECT id FROM labels WHERE text = ?')
    this.#addLabel = database.prepare('INSERT INTO labels (text) VALUES (?)')
  }

  /** On an error nothing of it stands. */
  write(selection: RepriceSelection, edits: readonly CostEdit[]): void {
    const runId = this.#runId
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      this.#write(selection, edits)
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#runId = runId
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #write({ fromMs, toMs, modelId }: RepriceSelection, edits: readonly CostEdit[]): void {
    this.#runId ??= Number(
      this.#addRun.run(Math.round(this.#nowMs()), Math.floor(fromMs), Math.ceil(toMs), modelId)
        .lastInsertRowid,
    )
    for (const { call, old, cost } of edits) {
      const id = valueIn(call, 'id')
      this.#keep.run(id, this.#runId, old.costNanoUsd, old.sourceId, old.keyId)
      const labels = cost === null ? [null, null] : [this.#labelId(cost.source), this.#labelId(cost.key)]
      this.#update.run(cost?.costNanoUsd ?? null, ...labels, id)
    }
    this.#deltas.changeCosts(edits.map(({ call, cost }) => ({ call, newNanoUsd: cost?.costNanoUsd ?? null })))
  }

  /** Looked up each time: what was added in a transaction that was rolled back is not there. */
  #labelId(text: string): number {
    return Number(this.#findLabel.get(text)?.['id'] ?? this.#addLabel.run(text).lastInsertRowid)
  }
}
