import { readdirSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { codeOf } from './file-trouble.ts'

/** A file of the raw log, oldest first in a list of them; the active one is the last. */
export interface Segment {
  readonly path: string
  readonly bytes: number
  /** What its name says; null of the active one, and of one that is just being renamed. */
  readonly firstSeq: number | null
}

export function indexPath(segmentPath: string): string {
  return `${segmentPath}.idx`
}

/** `payloads.jsonl` → `payloads.<middle>.jsonl`. */
function besidePath(filePath: string, middle: string): string {
  const extension = extname(filePath)
  return join(dirname(filePath), `${basename(filePath, extension)}.${middle}${extension}`)
}

/** What a full segment is called from then on. */
export function fullPath(filePath: string, firstSeq: number): string {
  return besidePath(filePath, String(firstSeq))
}

/** What a full segment is called until its first record's number is read: of this process alone. */
export function claimedPath(filePath: string, count: number): string {
  return besidePath(filePath, `full-${process.pid}-${count}`)
}

/** What is there of the log whose active file is at `filePath`: empty where there is nothing. Throws the system's errors. */
export function listSegments(filePath: string): Segment[] {
  const folder = dirname(filePath)
  const found: (Segment & { readonly order: number })[] = []
  for (const name of namesIn(folder)) {
    const order = orderOf(name, filePath)
    if (order === null) continue
    const path = join(folder, name)
    const bytes = sizeOf(path)
    if (bytes !== null)
      found.push({ path, bytes, firstSeq: order <= Number.MAX_SAFE_INTEGER ? order : null, order })
  }
  return found.sort((one, other) => (one.order < other.order ? -1 : 1))
}

export function totalBytes(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The size of all segments, found without holding up the caller's thread. Rejects with the system's errors. */
export async function measureSegments(filePath: string): Promise<number> {
  const folder = dirname(filePath)
  const names = await orIfMissing(() => readdir(folder), [])
  const own = names.filter((name) => orderOf(name, filePath) !== null)
  const sizes = await Promise.all(
    own.map((name) => orIfMissing(async () => (await stat(join(folder, name))).size, 0)),
  )
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

async function orIfMissing<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return otherwise
    throw error
  }
}

/** First seq of a full segment; a number beyond all of them for one without a number yet; infinity for the active one. */
function orderOf(name: string, filePath: string): number | null {
  if (name === basename(filePath)) return Number.POSITIVE_INFINITY
  const extension = extname(filePath)
  const prefix = `${basename(filePath, extension)}.`
  if (!name.startsWith(prefix) || !name.endsWith(extension)) return null
  const middle = name.slice(prefix.length, -extension.length)
  if (/^\d{1,16}$/.test(middle)) return Number(middle)
  return /^full-\d+-\d+$/.test(middle) ? Number.MAX_VALUE : null
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Null where it has gone meanwhile. */
function sizeOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : null
}
