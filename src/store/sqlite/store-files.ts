import { renameSync, statSync } from 'node:fs'
import { tryFileLock } from '../../lib/files/file-lock.ts'

/** A database's own file and the two that SQLite keeps beside it. */
const suffixes = ['', '-wal', '-shm'] as const

/** Identifies a file, whatever its name; `null` without a file. */
export function fileKey(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

/** Size of the write-ahead log. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Takes the lock of the one job that may change calls or sums from outside the gateway; null while another job runs. */
export function lockJob(path: string): Disposable | null {
  return tryFileLock(jobLockPath(path))
}

/** The path of the lock file for {@link lockJob}. */
export function jobLockPath(path: string): string {
  return `${path}.job.lock`
}

/** Moves a damaged database aside with its log, so that a person can still recover calls. */
export function setAside(path: string, wallTimeMs: number): void {
  const time = timeText(wallTimeMs)
  for (const suffix of suffixes) move(path + suffix, `${path}.corrupt-${time}${suffix}`)
}

/**
 * Moves the log of a missing or empty database aside, because SQLite would delete it. Returns a message, or
 * null without such a log. Call it only while this process has no open connection: see `OpenStore.file`.
 */
export function keepLeftLog(path: string, wallTimeMs: number): string | null {
  if (walBytes(path) === 0) return null
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isFile()) return null
  if (stats !== undefined && stats.size > 0) return null
  const aside = `${path}.orphan-${timeText(wallTimeMs)}`
  for (const suffix of ['-wal', '-shm']) move(path + suffix, aside + suffix)
  return `${path} was missing or empty; the rest of its log was kept as ${aside}-wal`
}

/**
 * Moves the log of a deleted database aside. SQLite would replay the log into the new file of that name, as a log does not
 * identify its database.
 */
export function setOrphanAside(path: string, walKey: string | null, wallTimeMs: number): void {
  if (walKey === null || fileKey(`${path}-wal`) !== walKey) return
  const time = timeText(wallTimeMs)
  for (const suffix of ['-wal', '-shm']) move(path + suffix, `${path}.orphan-${time}${suffix}`)
}

/** A time as a part of a file's name. */
export function timeText(wallTimeMs: number): string {
  return new Date(wallTimeMs).toISOString().replaceAll(':', '-')
}

function move(from: string, to: string): void {
  if (fileKey(from) !== null) renameSync(from, to)
}
