import { renameSync, statSync } from 'node:fs'

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

/** Moves a damaged database out of the way, complete, so that somebody may still get something out of it. */
export function setAside(path: string, wallTimeMs: number): void {
  const time = new Date(wallTimeMs).toISOString().replaceAll(':', '-')
  for (const suffix of suffixes) move(path + suffix, `${path}.corrupt-${time}${suffix}`)
}

/**
 * Moves a left-over log that belongs to a database which is gone. SQLite would play it into whatever file has
 * its name now: nothing in a log says which file it is of.
 */
export function setOrphanAside(path: string, walKey: string | null, wallTimeMs: number): void {
  if (walKey === null || fileKey(`${path}-wal`) !== walKey) return
  const time = new Date(wallTimeMs).toISOString().replaceAll(':', '-')
  for (const suffix of ['-wal', '-shm']) move(path + suffix, `${path}.orphan-${time}${suffix}`)
}

function move(from: string, to: string): void {
  if (fileKey(from) !== null) renameSync(from, to)
}
