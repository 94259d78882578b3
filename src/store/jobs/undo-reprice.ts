import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { type FigureRow, figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { costColumns, CostWriter, type StoredCost } from './cost-writer.ts'
import { inSlices, type JobClock, runJob } from './job.ts'

/** What was put back. */
export interface UndoOutcome {
  readonly calls: number
  /** When the re-pricing was done, in milliseconds since the Unix epoch. */
  readonly atMs: number
}

/**
 * Gives the calls of the last re-pricing the cost back that they had before, in short transactions with pauses between
 * them, while others read and write. It may be killed at any moment, and then begun again: that goes on with the same.
 */
export async function undoReprice(
  path: string,
  { clock }: { readonly clock: JobClock },
): Promise<UndoOutcome | StoreAbsence | 'job_running' | 'nothing_done'> {
  return await runJob(path, async (database) => {
    const run = database.prepare('SELECT * FROM reprice_runs ORDER BY id DESC LIMIT 1').get()
    if (run === undefined) return 'nothing_done'
    const undo = new UndoReprice(database, Number(run['id']), firstIdAt(Number(run['to_ms'])))
    let done = 0
    const slice = (limit: number): { readonly done: number; readonly hasMore: boolean } => {
      const undone = undo.step(limit)
      done += undone
      return { done, hasMore: undone === limit }
    }
    const bounds = { first: 50, least: 8, most: 2000 }
    const calls = await inSlices(clock, { bounds, total: 0, slice }, () => undefined)
    return { calls, atMs: Number(run['at_ms']) }
  })
}

class UndoReprice {
  readonly #database: DatabaseSync
  readonly #runId: number
  readonly #pastId: number
  readonly #costs: CostWriter
  readonly #rows: StatementSync
  readonly #forget: StatementSync
  readonly #forgetRun: StatementSync
  #afterId = -1

  constructor(database: DatabaseSync, runId: number, pastId: number) {
    this.#database = database
    this.#runId = runId
    this.#pastId = pastId
    this.#costs = new CostWriter(database)
    this.#rows = database.prepare(
      `SELECT ${figureSourceList('c')}, ${costColumns.map((column) => `r.${column}`).join(', ')}
        FROM repriced AS r JOIN calls AS c ON c.id = r.call_id
        WHERE r.call_id > ? AND r.call_id < ? AND r.run_id = ? ORDER BY r.call_id LIMIT ?`,
    )
    this.#rows.setReturnArrays(true)
    this.#forget = database.prepare('DELETE FROM repriced WHERE call_id = ? AND run_id = ?')
    this.#forgetRun = database.prepare('DELETE FROM reprice_runs WHERE id = ?')
  }

  /** Puts up to `limit` calls back, and forgets the run with the last of them; says how many. */
  step(limit: number): number {
    return inTransaction(this.#database, () => {
      const found = this.#rows.all(this.#afterId, this.#pastId, this.#runId, limit)
      const rows = found as unknown as readonly FigureRow[]
      this.#costs.write(
        rows.map((call) => ({ call, cost: call.slice(figureSources.length) as unknown as StoredCost })),
      )
      for (const row of rows) this.#forget.run(valueIn(row, 'id'), this.#runId)
      this.#afterId = valueIn(rows.at(-1) ?? [], 'id') ?? this.#afterId
      if (rows.length < limit) this.#forgetRun.run(this.#runId)
      return rows.length
    })
  }
}
