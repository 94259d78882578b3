import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { recoverJournals } from '../journal/journal-recovery.ts'
import { foldUntil } from '../rollup/fold-calls.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { walBytes } from '../sqlite/store-files.ts'
import { inSlices, type JobClock, type JobWorld, readStore, runJob, type SlicedWork } from './job.ts'
import { callsBefore, foldBefore, rollUp } from './rollup-work.ts'

export interface CompressRequest {
  /** Calls of so many whole days before today are kept. */
  readonly keepDays: number
  /** Only says what would be done. */
  readonly dryRun: boolean
}

/** `roll_up`: calls enter the rollups; `fold`: old ones are deleted; `give_back`: free pages leave the file. */
export type CompressPhase = 'roll_up' | 'fold' | 'give_back'

export interface CompressProgress {
  readonly phase: CompressPhase
  /** Calls, or pages of the file. */
  readonly done: number
  readonly total: number
}

/** Sizes are those of the file and its log together. */
export interface CompressOutcome {
  readonly beforeBytes: number
  /** Of a dry run, about. */
  readonly afterBytes: number
  readonly foldedCalls: number
  readonly durationMs: number
}

export type CompressWorld = JobWorld<CompressProgress>

/** Nothing is broken, but it cannot go on now; what is done already stays done. */
export class CompressStopped extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CompressStopped'
  }
}

/** The log is carried over into the file after so many slices, so that the gateway's writer need not do it. */
const slicesPerCheckpoint = 4
/** Pages that may wait in the log for a reader to move on: 64 MiB. */
const heldPages = 16_384
const heldCheckMs = 100
const heldPatienceMs = 60_000
/** The emptying of the log keeps the writer waiting. */
const truncateBusyMs = 20
const truncateTries = 20

/**
 * Folds old calls into the rollups and gives their pages back, in transactions of a few milliseconds with pauses
 * between them, while others read and write. It may be killed at any moment, and then begun again.
 */
export async function compressStore(
  path: string,
  { keepDays, dryRun }: CompressRequest,
  { clock, onProgress }: CompressWorld,
): Promise<CompressOutcome | StoreAbsence | 'job_running'> {
  const startedMs = clock.now()
  const beforeBytes = bytesOf(path)
  const untilMs = foldUntil(clock.wallTime(), keepDays)
  const outcome = (foldedCalls: number, afterBytes: number): CompressOutcome => {
    return { beforeBytes, afterBytes, foldedCalls, durationMs: clock.now() - startedMs }
  }
  if (dryRun) {
    return await readStore(path, (database) => {
      const { foldedCalls, freedBytes } = estimateOf(database, untilMs)
      return outcome(foldedCalls, Math.max(0, beforeBytes - freedBytes))
    })
  }
  return await runJob(path, async (database) => {
    // Checkpoints are made between slices, not as a part of them.
    database.exec('PRAGMA wal_autocheckpoint = 0')
    const log = new JobLog(database, clock)
    const run = (phase: CompressPhase, work: SlicedWork): Promise<number> =>
      inSlices(
        clock,
        work,
        (done, total) => onProgress({ phase, done, total }),
        () => log.afterSlice(),
      )
    // What dead gateways left unfinished belongs to the calls too, and later could not be told from what is folded.
    recoverJournals(dirname(path), database, { self: null, wallTimeMs: clock.wallTime() })
    await run('roll_up', rollUp(database, clock))
    const foldedCalls = await run('fold', foldBefore(database, untilMs))
    await run('give_back', giveBack(database))
    await log.empty()
    return outcome(foldedCalls, bytesOf(path))
  })
}

/** What would go if all calls before `untilMs` were folded: their share of what calls and their indexes take. */
function estimateOf(
  database: DatabaseSync,
  untilMs: number,
): { readonly foldedCalls: number; readonly freedBytes: number } {
  const pragma = (name: 'page_count' | 'page_size' | 'freelist_count'): number =>
    Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
  const foldedCalls = callsBefore(database, untilMs)
  const calls = Number(database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'])
  const free = pragma('freelist_count') * pragma('page_size')
  const used = pragma('page_count') * pragma('page_size') - free
  const callBytes = Math.max(0, used - otherBytes(database))
  const share = calls === 0 ? 0 : foldedCalls / calls
  return { foldedCalls, freedBytes: Math.round(callBytes * share) + free }
}

/** What everything but calls and their indexes takes: less to look through than they are. */
function otherBytes(database: DatabaseSync): number {
  const names = database
    .prepare("SELECT name FROM sqlite_schema WHERE rootpage > 0 AND tbl_name <> 'calls'")
    .all()
    .map((row) => String(row['name']))
  const bytesOf = database.prepare('SELECT pgsize AS bytes FROM dbstat WHERE aggregate = 1 AND name = ?')
  return names.reduce((sum, name) => sum + Number(bytesOf.get(name)?.['bytes'] ?? 0), 0)
}

function giveBack(database: DatabaseSync): SlicedWork {
  const count = database.prepare('PRAGMA freelist_count')
  const freePages = (): number => Number(count.get()?.['freelist_count'])
  const total = freePages()
  return {
    bounds: { first: 32, least: 4, most: 250 },
    total,
    slice: (limit) => {
      const before = freePages()
      database.exec(`PRAGMA incremental_vacuum(${limit})`)
      const left = freePages()
      return { done: Math.max(0, total - left), hasMore: left > 0 && left < before }
    },
  }
}

/** Keeps the log short while a job writes. */
class JobLog {
  readonly #database: DatabaseSync
  readonly #clock: JobClock
  #slices = 0

  constructor(database: DatabaseSync, clock: JobClock) {
    this.#database = database
    this.#clock = clock
  }

  async afterSlice(): Promise<void> {
    if (++this.#slices % slicesPerCheckpoint === 0) await this.#carryOver()
  }

  /** The file gets its new size with that. A reader may be in the way: then the next checkpoint of anybody does it. */
  async empty(): Promise<void> {
    await this.#carryOver()
    const isInTheWay = (): boolean =>
      withLockWait(this.#database, truncateBusyMs, () => this.#checkpoint('TRUNCATE').busy !== 0)
    for (let tries = 1; isInTheWay() && tries < truncateTries; tries++) {
      await this.#clock.delay(heldCheckMs)
      this.#checkpoint('PASSIVE')
    }
  }

  /** Carries the log over into the file, which keeps nobody waiting; waits if a reader stays in an old snapshot. */
  async #carryOver(): Promise<void> {
    const deadlineMs = this.#clock.now() + heldPatienceMs
    for (;;) {
      const { log, checkpointed } = this.#checkpoint('PASSIVE')
      if (log - checkpointed < heldPages) return
      if (this.#clock.now() > deadlineMs) {
        throw new CompressStopped(
          `another process has read in one go for over ${heldPatienceMs / 1000} s and keeps the log from being ` +
            'emptied; end it, and run this again: it goes on where it stopped',
        )
      }
      await this.#clock.delay(heldCheckMs)
    }
  }

  /** Says if somebody was in the way of it, how many pages are in the log, and how many of them in the file by now. */
  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Record<'busy' | 'log' | 'checkpointed', number> {
    const row = this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    return {
      busy: Number(row?.['busy']),
      log: Number(row?.['log']),
      checkpointed: Number(row?.['checkpointed']),
    }
  }
}

function bytesOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) + walBytes(path)
}
