import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../call/clock.ts'
import { openForReading, openForWriting, type StoreAbsence } from '../sqlite/open-store.ts'
import { databasePlace } from '../sqlite/older-proxy.ts'
import { lockJob } from '../sqlite/store-files.ts'

export type JobClock = Pick<Clock, 'now' | 'wallTime' | 'delay'>

/** How far a job has come, in whatever it counts. */
export interface JobProgress {
  readonly done: number
  readonly total: number
}

/** Time, and whoever is told how far a job has come. */
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
 * Changes a database beside its gateway, as the only job that does: calls must not be folded, priced and counted at once.
 * `mayMake`: there need not be one yet.
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

/** Bounds of what is done in one slice, in whatever is counted. */
export interface SliceBounds {
  readonly first: number
  readonly least: number
  readonly most: number
  /** What a slice should take, {@link sliceMs} unless told otherwise. */
  readonly ms?: number
}

/** Work that is done in slices. */
export interface SlicedWork {
  readonly bounds: SliceBounds
  /** In what is counted in progress, which need not be what a slice's size counts. */
  readonly total: number
  readonly slice: (size: number) => {
    /** In all slices. */
    readonly done: number
    readonly hasMore: boolean
    /** A slice that only reads keeps nobody waiting, and needs no pause. */
    readonly hasWritten?: boolean
  }
}

/** Others wait for the lock meanwhile, and SQLite makes them wait in growing steps. */
export const sliceMs = 5
/** After a slice that took too long the next one may be this much smaller, after a short one this much larger. */
const shrinkAtMost = 8
const growAtMost = 1.5

/** Works in short slices with pauses between them, so that others can read and write meanwhile; says how much was done. */
export async function inSlices(
  clock: JobClock,
  { bounds, total, slice }: SlicedWork,
  onProgress: (progress: JobProgress) => void = () => undefined,
  between?: () => Promise<void>,
): Promise<number> {
  onProgress({ done: 0, total })
  for (let size = bounds.first; ;) {
    const fromMs = clock.now()
    const { done, hasMore, hasWritten = true } = slice(size)
    const tookMs = clock.now() - fromMs
    onProgress({ done: Math.min(done, total), total })
    if (!hasMore) return done
    size = nextSize(size, tookMs, bounds)
    await between?.()
    if (hasWritten || tookMs > (bounds.ms ?? sliceMs)) await clock.delay(hasWritten ? pauseAfter(tookMs) : 0)
  }
}

/** How much to do in the next slice, when one of `size` took `tookMs`. */
export function nextSize(
  size: number,
  tookMs: number,
  { least, most, ms = sliceMs }: Omit<SliceBounds, 'first'>,
): number {
  const factor = Math.min(growAtMost, Math.max(1 / shrinkAtMost, ms / Math.max(tookMs, 0.001)))
  return Math.min(most, Math.max(least, Math.round(size * factor)))
}

/**
 * How long to leave the database to others after a slice. SQLite tries a lock again after 1, 3, 8, 18, 33 ms:
 * whoever began to wait within the slice comes to try within the pause. Longer than that, because nothing is urgent.
 */
export function pauseAfter(tookMs: number): number {
  return Math.min(60, 6 + 2 * tookMs)
}
