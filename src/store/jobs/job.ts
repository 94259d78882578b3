import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../call/clock.ts'
import { sliceSize } from '../../lib/slice-size.ts'
import { openForReading, openForWriting, type StoreAbsence } from '../sqlite/open-store.ts'
import { databasePlace } from '../sqlite/older-proxy.ts'
import { lockJob } from '../sqlite/store-files.ts'

export type JobClock = Pick<Clock, 'now' | 'wallTime' | 'delay'>

/** Progress of a job, in its own unit. */
export interface JobProgress {
  readonly done: number
  readonly total: number
}

/** The clock of a job, and the listener for its progress. */
export interface JobContext<Progress = JobProgress> {
  readonly clock: JobClock
  readonly onProgress: (progress: Progress) => void
}

/** Runs `work` on a database opened for reading, or returns why there is none. */
export async function readStore<T>(
  path: string,
  work: (database: DatabaseSync) => T | Promise<T>,
): Promise<T | StoreAbsence> {
  const opened = openForReading(path)
  if (typeof opened === 'string') return opened
  using database = opened
  return await work(database)
}

/**
 * Runs a job that changes a database beside its gateway. Only one job runs at a time, because calls must not
 * be folded, priced and counted at once. `mayMake`: creates a missing database.
 */
export async function runJob<T>(
  named: string,
  work: (database: DatabaseSync) => Promise<T>,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<T | StoreAbsence | 'job_running'> {
  const { path } = databasePlace(named)
  // No lock file is created without a database.
  const absence = await readStore(path, () => null)
  const isNew = absence === 'missing' || absence === 'empty'
  if (absence !== null && !(mayMake && isNew)) return absence
  if (isNew) openForWriting(path).close()
  using lock = lockJob(path)
  if (lock === null) return 'job_running'
  using database = openForWriting(path)
  return await work(database)
}

/** Work that is done in slices, each a transaction or a few. */
export interface SlicedWork {
  /** Total work, in the unit of the progress, which may differ from the unit of a slice's size. */
  readonly total: number
  readonly slice: (size: number) => {
    /** Work done in all slices so far. */
    readonly done: number
    readonly hasMore: boolean
  }
  /** True if slices only read. No writer waits for them, so no pauses are needed. */
  readonly onlyReads?: boolean
}

/** Sizes of slices. The first is small; later slices take about `ms` milliseconds, in which other writers wait. */
const slices = { first: 20, least: 4, most: 5000, ms: 10 } as const
/**
 * Pause between slices. SQLite retries a lock after 1, 3, 8, 18, 33 ms, so a waiting writer gets the lock in
 * the pause.
 */
export const pauseMs = 25

/** Works in short slices with pauses between them, so that others can read and write. Resolves with the work done. */
export async function inSlices(
  clock: JobClock,
  { total, slice, onlyReads = false }: SlicedWork,
  onProgress: (progress: JobProgress) => void = () => undefined,
): Promise<number> {
  onProgress({ done: 0, total })
  for (let size: number = slices.first; ;) {
    const fromMs = clock.now()
    const { done, hasMore } = slice(size)
    onProgress({ done: Math.min(done, total), total })
    if (!hasMore) return done
    size = sliceSize(size, clock.now() - fromMs, slices)
    await clock.delay(onlyReads ? 0 : pauseMs)
  }
}
