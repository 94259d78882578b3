import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../call/clock.ts'
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

/** Works on a database that is only read, or says why there is none. */
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
 * Changes a database beside its gateway, as its only job: calls must not be folded, priced and counted at once.
 * `mayMake`: makes a missing database.
 */
export async function runJob<T>(
  named: string,
  work: (database: DatabaseSync) => Promise<T>,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<T | StoreAbsence | 'job_running'> {
  const { path } = databasePlace(named)
  // Nothing is made if there is nothing to work on.
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
  /** In the unit of the progress, which can be another than that of a slice's size. */
  readonly total: number
  readonly slice: (size: number) => {
    /** In all slices. */
    readonly done: number
    readonly hasMore: boolean
  }
  /** True if slices only read: no writer waits for them, so no pause follows. */
  readonly onlyReads?: boolean
}

/** The first slice is small; later slices take about `ms` milliseconds, in which other writers wait. */
const slices = { first: 20, least: 4, most: 5000, ms: 10 } as const
/** SQLite tries a lock again after 1, 3, 8, 18, 33 ms: within the pause, a waiting writer tries again. */
export const pauseMs = 25
/** After a slice that took too long the next one may be this much smaller, after a short one this much larger. */
const shrinkAtMost = 8
const growAtMost = 1.5

/** Works in short slices with pauses between them, so that others can read and write meanwhile; says how much was done. */
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
    size = nextSize(size, clock.now() - fromMs, slices)
    await clock.delay(onlyReads ? 0 : pauseMs)
  }
}

/** How much to do in the next slice, when one of `size` took `tookMs`. */
export function nextSize(
  size: number,
  tookMs: number,
  { least, most, ms }: Readonly<Record<'least' | 'most' | 'ms', number>>,
): number {
  const factor = Math.min(growAtMost, Math.max(1 / shrinkAtMost, ms / Math.max(tookMs, 0.001)))
  return Math.min(most, Math.max(least, Math.round(size * factor)))
}
