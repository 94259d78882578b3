import { renameSync, statSync } from 'node:fs'
import { tryFileLock } from '../../lib/files/file-lock.ts'

/** A database's own file and the two that SQLite keeps beside it. */
const suffixes = ['', '-wal', '-shm'] as const

/** Tells one file from another of the same name; `null` where there is none. */
export function fileKey(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

/** Size of the write-ahead log. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Held by the one job at a time that may change calls or sums from outside the gateway; null if another runs. */
export function lockJob(path: string): Disposable | null {
  return tryFileLock(jobLockPath(path))
}

export function jobLockPath(path: string): string {
  return `${path}.job.lock`
}

/** Moves a damaged database out of the way, complete, so that somebody may still get something out of it. */
export function setAside(path: string, wallTimeMs: number): void {
  const time = timeText(wallTimeMs)
  for (const suffix of suffixes) move(path + suffix, `${path}.corrupt-${time}${suffix}`)
}

/**
 * Before a database is opened: keeps a log whose database is gone or empty, which SQLite would delete. Says what was
 * kept, `null` where nothing had to be. While a connection of this process is open it must not be called: see `OpenStore.file`.
 */
export function keepLeftLog(path: string, wallTimeMs: number): string | null {
  if (walBytes(path) === 0) return null
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) return null
  if (found !== undefined && found.size > 0) return null
  const aside = `${path}.orphan-${timeText(wallTimeMs)}`
  for (const suffix of ['-wal', '-shm']) move(path + suffix, aside + suffix)
  return `${path} was gone or empty; what its log still held was kept as ${aside}-wal`
}

/**
 * Moves a left-over log that belongs to a database which is gone. SQLite would play it into whatever file has
 * its name now: nothing in a log says which file it is of.
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
