import { readdirSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { nullIfMissing, orNullIfMissing } from '../../lib/errors.ts'

/** A file of the raw log. Lists have the oldest segment first, and the active one last. */
export interface Segment {
  readonly path: string
  readonly bytes: number
  /** The first seq in the file's name; null for the active file. */
  readonly firstSeq: number | null
  /** The number of records in the file's name; null without one, or if the file was written to afterwards. */
  readonly records: number | null
}

/** `payloads.jsonl` → `payloads.<middle>.jsonl`. */
function besidePath(filePath: string, middle: string): string {
  const extension = extname(filePath)
  return join(dirname(filePath), `${basename(filePath, extension)}.${middle}${extension}`)
}

/** The path of a full segment. The name has the numbers of records and bytes, so that no reader has to count. */
export function fullPath(filePath: string, firstSeq: number, records: number, bytes: number): string {
  return besidePath(filePath, `${firstSeq}-${records}-${bytes}`)
}

/** All files of the log whose active file is at `filePath`; empty without files. Throws the system's errors. */
export function listSegments(filePath: string): Segment[] {
  const folder = dirname(filePath)
  const segments: Segment[] = []
  for (const name of orNullIfMissing(() => readdirSync(folder)) ?? []) {
    const parts = readName(name, filePath)
    if (parts === null) continue
    const path = join(folder, name)
    const bytes = sizeOf(path)
    if (bytes === null) continue
    const records = parts.bytes === bytes ? parts.records : null
    segments.push({ path, bytes, firstSeq: parts.firstSeq, records })
  }
  const orderOf = ({ firstSeq }: Segment): number => firstSeq ?? Number.POSITIVE_INFINITY
  return segments.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

export function totalBytes(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The size of all segments in bytes, without blocking the thread. Rejects with the system's errors. */
export async function measureSegments(filePath: string): Promise<number> {
  const folder = dirname(filePath)
  const names = (await readdir(folder).catch(nullIfMissing)) ?? []
  const own = names.filter((name) => readName(name, filePath) !== null)
  const all = await Promise.all(own.map((name) => stat(join(folder, name)).catch(nullIfMissing)))
  return all.reduce((sum, stats) => sum + (stats?.size ?? 0), 0)
}

type SegmentName = Omit<Segment, 'path'>

/** Reads a file name; null if it names no segment. The active file's name has no numbers. */
function readName(name: string, filePath: string): SegmentName | null {
  if (name === basename(filePath)) return { firstSeq: null, records: null, bytes: -1 }
  const extension = extname(filePath)
  const prefix = `${basename(filePath, extension)}.`
  if (!name.startsWith(prefix) || !name.endsWith(extension)) return null
  const middle = name.slice(prefix.length, name.length - extension.length)
  const [, seq, records, bytes] = /^(\d{1,16})-(\d+)-(\d+)$/.exec(middle) ?? []
  return seq === undefined ? null : { firstSeq: Number(seq), records: Number(records), bytes: Number(bytes) }
}

/** The size of a file; null if it is gone. */
function sizeOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : null
}
