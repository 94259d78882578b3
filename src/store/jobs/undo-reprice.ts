import { firstIdAt } from '../../call/call-id.ts'
import { figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { costColumns, costWriter, type StoredCost } from './cost-writer.ts'
import { inSlices, type JobContext, runJob } from './job.ts'

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
  { clock }: Pick<JobContext, 'clock'>,
): Promise<UndoOutcome | StoreAbsence | 'job_running' | 'nothing_done'> {
  return await runJob(path, async (database) => {
    const run = database.prepare('SELECT * FROM reprice_runs ORDER BY id DESC LIMIT 1').get()
    if (run === undefined) return 'nothing_done'
    const [runId, pastId] = [Number(run['id']), firstIdAt(Number(run['to_ms']))]
    const writeCosts = costWriter(database)
    const statements = new RowStatements(database)
    const kept = `SELECT ${figureSourceList('c')}, ${costColumns.map((column) => `r.${column}`).join(', ')}
      FROM repriced AS r JOIN calls AS c ON c.id = r.call_id
      WHERE r.call_id > ? AND r.call_id < ? AND r.run_id = ? ORDER BY r.call_id LIMIT ?`
    const forget = 'DELETE FROM repriced WHERE call_id = ? AND run_id = ?'
    let calls = 0
    let afterId = -1
    /** Puts up to `limit` calls back, and forgets the run with the last of them. */
    const slice = (limit: number): { readonly done: number; readonly hasMore: boolean } => {
      const rows = statements.all(kept, afterId, pastId, runId, limit)
      writeCosts(
        rows.map((call) => ({ call, cost: call.slice(figureSources.length) as unknown as StoredCost })),
      )
      for (const row of rows) statements.run(forget, valueIn(row, 'id'), runId)
      if (rows.length < limit) statements.run('DELETE FROM reprice_runs WHERE id = ?', runId)
      afterId = valueIn(rows.at(-1) ?? [], 'id') ?? afterId
      calls += rows.length
      return { done: calls, hasMore: rows.length === limit }
    }
    const bounds = { first: 50, least: 8, most: 2000 }
    await inSlices(clock, {
      bounds,
      total: 0,
      slice: (limit) => inTransaction(database, () => slice(limit)),
    })
    return { calls, atMs: Number(run['at_ms']) }
  })
}
