import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { recoverJournals } from '../journal/journal-recovery.ts'
import { FoldCalls, foldUntil } from '../rollup/fold-calls.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import { walBytes } from '../sqlite/store-files.ts'
import { callsBefore, estimateOf } from './compress-estimate.ts'
import { inSlices, type JobWorld, readStore, runJob, type SliceBounds } from './job.ts'
import { rollUp } from './roll-up.ts'

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

const bounds = {
  fold: { first: 100, least: 16, most: 5000 },
  give_back: { first: 32, least: 4, most: 250 },
} as const satisfies Partial<Record<CompressPhase, SliceBounds>>

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
  request: CompressRequest,
  world: CompressWorld,
): Promise<CompressOutcome | StoreAbsence | 'job_running'> {
  const startedMs = world.clock.now()
  const beforeBytes = bytesOf(path)
  const untilMs = foldUntil(world.clock.wallTime(), request.keepDays)
  const outcome = (foldedCalls: number, afterBytes: number): CompressOutcome => {
    return { beforeBytes, afterBytes, foldedCalls, durationMs: world.clock.now() - startedMs }
  }
  if (request.dryRun) {
    return await readStore(path, (database) => {
      const { foldedCalls, freedBytes } = estimateOf(database, untilMs)
      return outcome(foldedCalls, Math.max(0, beforeBytes - freedBytes))
    })
  }
  return await runJob(path, async (database) => {
    const foldedCalls = await new Compression(database, path, untilMs, world).run()
    return outcome(foldedCalls, bytesOf(path))
  })
}

class Compression {
  readonly #database: DatabaseSync
  readonly #path: string
  readonly #untilMs: number
  readonly #world: CompressWorld
  #slices = 0

  constructor(database: DatabaseSync, path: string, untilMs: number, world: CompressWorld) {
    this.#database = database
    this.#path = path
    this.#untilMs = untilMs
    this.#world = world
  }

  /** Says how many calls were folded. */
  async run(): Promise<number> {
    // Checkpoints are made between slices, not as a part of them.
    this.#database.exec('PRAGMA wal_autocheckpoint = 0')
    // What dead gateways left unfinished belongs to the calls too, and later could not be told from what is folded.
    recoverJournals(dirname(this.#path), this.#database, {
      self: null,
      wallTimeMs: this.#world.clock.wallTime(),
    })
    await rollUp(
      this.#database,
      this.#world.clock,
      (done, total) => this.#tell('roll_up', done, total),
      () => this.#afterSlice(),
    )
    const folded = await this.#fold()
    await this.#giveBack()
    await this.#emptyLog()
    return folded
  }

  async #fold(): Promise<number> {
    const fold = new FoldCalls(this.#database)
    const total = callsBefore(this.#database, this.#untilMs)
    let folded = 0
    await this.#inSlices('fold', total, (limit) => {
      const deleted = fold.step(this.#untilMs, limit)
      folded += deleted
      return { done: folded, hasMore: deleted > 0 }
    })
    return folded
  }

  async #giveBack(): Promise<void> {
    const count = this.#database.prepare('PRAGMA freelist_count')
    const freePages = (): number => Number(count.get()?.['freelist_count'])
    const total = freePages()
    await this.#inSlices('give_back', total, (limit) => {
      const before = freePages()
      this.#database.exec(`PRAGMA incremental_vacuum(${limit})`)
      const left = freePages()
      return { done: Math.max(0, total - left), hasMore: left > 0 && left < before }
    })
  }

  async #inSlices(
    phase: 'fold' | 'give_back',
    total: number,
    slice: (size: number) => { readonly done: number; readonly hasMore: boolean },
  ): Promise<void> {
    this.#tell(phase, 0, total)
    const told = (size: number): { readonly hasMore: boolean } => {
      const { done, hasMore } = slice(size)
      this.#tell(phase, Math.min(done, total), total)
      return { hasMore }
    }
    await inSlices(this.#world.clock, bounds[phase], told, () => this.#afterSlice())
  }

  #tell(phase: CompressPhase, done: number, total: number): void {
    this.#world.onProgress({ phase, done, total })
  }

  async #afterSlice(): Promise<void> {
    if (++this.#slices % slicesPerCheckpoint === 0) await this.#carryOver()
  }

  /** Carries the log over into the file, which keeps nobody waiting; waits if a reader stays in an old snapshot. */
  async #carryOver(): Promise<void> {
    const { clock } = this.#world
    const deadlineMs = clock.now() + heldPatienceMs
    for (;;) {
      const { log, checkpointed } = this.#checkpoint('PASSIVE')
      if (log - checkpointed < heldPages) return
      if (clock.now() > deadlineMs) {
        throw new CompressStopped(
          `another process has read in one go for over ${heldPatienceMs / 1000} s and keeps the log from being ` +
            'emptied; end it, and run this again: it goes on where it stopped',
        )
      }
      await clock.delay(heldCheckMs)
    }
  }

  /** The file gets its new size with that. A reader may be in the way: then the next checkpoint of anybody does it. */
  async #emptyLog(): Promise<void> {
    await this.#carryOver()
    const isInTheWay = (): boolean =>
      withLockWait(this.#database, truncateBusyMs, () => this.#checkpoint('TRUNCATE').busy)
    for (let tries = 1; isInTheWay() && tries < truncateTries; tries++) {
      await this.#world.clock.delay(heldCheckMs)
      this.#checkpoint('PASSIVE')
    }
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Checkpoint {
    const row = this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    return {
      busy: Number(row?.['busy']) !== 0,
      log: Number(row?.['log']),
      checkpointed: Number(row?.['checkpointed']),
    }
  }
}

interface Checkpoint {
  /** Whether somebody was in the way of it. */
  readonly busy: boolean
  /** Pages in the log, and how many of them are in the file by now. */
  readonly log: number
  readonly checkpointed: number
}

function bytesOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) + walBytes(path)
}
