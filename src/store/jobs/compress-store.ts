import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { CompressPhase, CompressProgress, CompressResult } from '../../api/database-job.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { foldableUntil } from '../rollup/fold-calls.ts'
import { dayMs } from '../rollup/time-plan.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { walBytes } from '../sqlite/store-files.ts'
import { inSlices, type JobContext, readStore, runJob, type SlicedWork } from './job.ts'
import { callsBefore, foldBefore, sumUp } from './sum-work.ts'

/** The calls to fold. */
export interface CompressRequest {
  /** Whole days before today (UTC) whose calls are kept. */
  readonly keepDays: number
  /**
   * Most bytes of the database with its sums. Beyond these, more days are folded, oldest first, but not
   * yesterday and today. A dry run ignores this.
   */
  readonly keepBytes?: number
  /** True if no person started this run. A clock that has jumped must then not be trusted. */
  readonly isAutomatic?: boolean
  /** Only returns what would be done. */
  readonly dryRun: boolean
}

/** Longest wait (ms) for locks of others when the log is emptied at the end. */
const truncateBusyMs = 250

/**
 * Folds old calls into the sums and frees their pages, while others read and write. Transactions take a few
 * milliseconds, with pauses between them. The job may be killed at any time, and started again.
 */
export async function compressStore(
  path: string,
  { keepDays, keepBytes, isAutomatic = false, dryRun }: CompressRequest,
  { clock, onProgress }: JobContext<CompressProgress>,
): Promise<CompressResult | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  const beforeBytes = bytesOf(path)
  const untilIn = (database: DatabaseSync, days: number): number =>
    foldableUntil(database, clock.wallTime(), days, { isClockChecked: isAutomatic })
  const result = (foldedCalls: number, afterBytes: number): CompressResult => ({
    before_bytes: beforeBytes,
    after_bytes: afterBytes,
    folded_calls: foldedCalls,
    duration_ms: Math.round(clock.now() - startedMs),
  })
  if (dryRun) {
    return await readStore(path, (database) => {
      const { foldedCalls, freedBytes } = estimateOf(database, untilIn(database, keepDays))
      return result(foldedCalls, Math.max(0, beforeBytes - freedBytes))
    })
  }
  return await runJob(path, async (database) => {
    const run = (phase: CompressPhase, work: SlicedWork): Promise<number> =>
      inSlices(clock, work, (progress) => onProgress({ phase, ...progress }))
    await run('roll_up', sumUp(database, clock))
    let foldedCalls = await run('fold', foldBefore(database, untilIn(database, keepDays), clock))
    if (keepBytes !== undefined) {
      const lastMs = foldableUntil(database, clock.wallTime(), 1, { isClockChecked: false })
      for (let more = 1; more > 0 && usedBytes(database) > keepBytes; foldedCalls += more) {
        const dayEndMs = oldestDayEndMs(database)
        more = dayEndMs > lastMs ? 0 : await run('fold', foldBefore(database, dayEndMs, clock))
      }
    }
    await run('give_back', giveBack(database))
    // The checkpoint shrinks the file. If a reader prevents that, the next checkpoint does it.
    withLockWait(database, truncateBusyMs, () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    return result(foldedCalls, bytesOf(path))
  })
}

/** Bytes in use in the file, without its log and without free pages. */
export function usedBytes(database: DatabaseSync): number {
  return (pragma(database, 'page_count') - pragma(database, 'freelist_count')) * pragma(database, 'page_size')
}

function pragma(database: DatabaseSync, name: 'page_count' | 'page_size' | 'freelist_count'): number {
  return new RowStatements(database).number(`PRAGMA ${name}`) ?? 0
}

/** The end of the day in which the oldest remaining call began; infinite without calls. */
function oldestDayEndMs(database: DatabaseSync): number {
  const id = new RowStatements(database).number('SELECT min(id) FROM calls')
  if (id === null) return Number.POSITIVE_INFINITY
  return (Math.floor(startedAtMs(id) / dayMs) + 1) * dayMs
}

/** An estimate of the bytes that folding all calls before `untilMs` would free: their share of calls and indexes. */
function estimateOf(
  database: DatabaseSync,
  untilMs: number,
): { readonly foldedCalls: number; readonly freedBytes: number } {
  const foldedCalls = callsBefore(database, untilMs)
  const calls = new RowStatements(database).number('SELECT count(*) FROM calls') ?? 0
  const free = pragma(database, 'freelist_count') * pragma(database, 'page_size')
  const callBytes = Math.max(0, usedBytes(database) - otherBytes(database))
  const share = calls === 0 ? 0 : foldedCalls / calls
  return { foldedCalls, freedBytes: Math.round(callBytes * share) + free }
}

/** The bytes of everything except calls and their indexes, which are slower to count. */
function otherBytes(database: DatabaseSync): number {
  const bytes = `SELECT sum((SELECT pgsize FROM dbstat WHERE aggregate = 1 AND name = s.name))
    FROM sqlite_schema AS s WHERE rootpage > 0 AND tbl_name <> 'calls'`
  return new RowStatements(database).number(bytes) ?? 0
}

function giveBack(database: DatabaseSync): SlicedWork {
  const freePages = (): number => pragma(database, 'freelist_count')
  const total = freePages()
  return {
    total,
    slice: (limit) => {
      const before = freePages()
      database.exec(`PRAGMA incremental_vacuum(${limit})`)
      const pagesLeft = freePages()
      return { done: Math.max(0, total - pagesLeft), hasMore: pagesLeft > 0 && pagesLeft < before }
    },
  }
}

function bytesOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) + walBytes(path)
}
