import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { type FigureRow, figureSourceList, figureSources, valueIn } from '../rollup/call-figures.ts'
import { RollupDeltas } from '../rollup/rollup-deltas.ts'
import { openForReading, openForWriting, type StoreAbsence } from '../sqlite/open-store.ts'
import { nextSize, pauseAfter } from './slice-pace.ts'
import { lockJob } from '../sqlite/store-files.ts'

/** What was put back. */
export interface UndoOutcome {
  readonly calls: number
  /** When the re-pricing was done, in milliseconds since the Unix epoch. */
  readonly atMs: number
}

interface Run {
  readonly id: number
  readonly atMs: number
  readonly fromMs: number
  readonly toMs: number
}

const bounds = { first: 50, least: 8, most: 2000 } as const

/**
 * Gives the calls of the last re-pricing the cost back that they had before, in short transactions with pauses between
 * them, while others read and write. It may be killed at any moment, and then begun again: that goes on with the same.
 */
export async function undoReprice(
  path: string,
  { clock }: { readonly clock: Pick<Clock, 'now' | 'wallTime' | 'delay'> },
): Promise<UndoOutcome | StoreAbsence | 'job_running' | 'nothing_done'> {
  const reading = openForReading(path)
  if (typeof reading === 'string') return reading
  reading.close()
  using job = lockJob(path)
  if (job === null) return 'job_running'
  const database = openForWriting(path)
  try {
    const undo = new UndoReprice(database)
    const run = undo.lastRun()
    if (run === null) return 'nothing_done'
    let calls = 0
    let size: number = bounds.first
    for (let afterId: number | null = firstIdAt(run.fromMs) - 1; afterId !== null;) {
      const fromMs = clock.now()
      const slice = undo.step(run, afterId, size)
      const tookMs = clock.now() - fromMs
      calls += slice.calls
      afterId = slice.afterId
      size = nextSize(size, tookMs, bounds)
      if (afterId !== null) await clock.delay(pauseAfter(tookMs))
    }
    return { calls, atMs: run.atMs }
  } finally {
    database.close()
  }
}

class UndoReprice {
  readonly #database: DatabaseSync
  readonly #deltas: RollupDeltas
  readonly #rows: StatementSync
  readonly #update: StatementSync
  readonly #forget: StatementSync
  readonly #forgetRun: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#deltas = new RollupDeltas(database)
    const columns = figureSourceList('c')
    this.#rows = database.prepare(
      `SELECT ${columns}, r.cost_nano_usd, r.price_source_id, r.price_key_id FROM repriced AS r
        JOIN calls AS c ON c.id = r.call_id
        WHERE r.call_id > ? AND r.call_id < ? AND r.run_id = ? ORDER BY r.call_id LIMIT ?`,
    )
    this.#rows.setReturnArrays(true)
    this.#update = database.prepare(
      'UPDATE calls SET cost_nano_usd = ?, price_source_id = ?, price_key_id = ? WHERE id = ?',
    )
    this.#forget = database.prepare('DELETE FROM repriced WHERE call_id = ? AND run_id = ?')
    this.#forgetRun = database.prepare('DELETE FROM reprice_runs WHERE id = ?')
  }

  lastRun(): Run | null {
    const row = this.#database.prepare('SELECT * FROM reprice_runs ORDER BY id DESC LIMIT 1').get()
    if (row === undefined) return null
    const { id, at_ms, from_ms, to_ms } = row
    return { id: Number(id), atMs: Number(at_ms), fromMs: Number(from_ms), toMs: Number(to_ms) }
  }

  /** Puts up to `limit` calls back, and forgets the run with the last of them. */
  step(
    run: Run,
    afterId: number,
    limit: number,
  ): { readonly calls: number; readonly afterId: number | null } {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const rows = this.#rows.all(
        afterId,
        firstIdAt(run.toMs),
        run.id,
        limit,
      ) as unknown as readonly FigureRow[]
      for (const row of rows) {
        const id = valueIn(row, 'id')
        this.#update.run(...row.slice(figureSources.length), id)
        this.#forget.run(id, run.id)
      }
      this.#deltas.changeCosts(
        rows.map((row) => ({ call: row, newNanoUsd: row[figureSources.length] ?? null })),
      )
      const last = rows.length < limit ? undefined : rows.at(-1)
      if (last === undefined) this.#forgetRun.run(run.id)
      this.#database.exec('COMMIT')
      return { calls: rows.length, afterId: last === undefined ? null : valueIn(last, 'id') }
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }
}
