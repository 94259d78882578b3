import { renameSync, rmSync } from 'node:fs'
import { ActiveSegment } from './active-segment.ts'
import { codeOf } from '../../lib/errors.ts'
import { OpenSegment } from './open-segment.ts'
import { lineBreak, seqOf } from './payload-line.ts'
import { claimedPath, fullPath, listSegments, type Segment, totalBytes } from './payload-segments.ts'

/** The log's path and its limits. */
export interface PayloadFileOptions {
  readonly filePath: string
  readonly segmentBytes: number
  /** Most bytes of all segments; beyond it the oldest segment is deleted. */
  readonly totalBytes: number
  readonly nextSeq: () => number
}

/** The result of an append. */
export interface Appended {
  /** Number of lines that are in the file, from the first on. */
  readonly written: number
  /** The system's error about the rest; null if all lines are written. */
  readonly error: unknown
}

/** Bytes at the end of a file that are searched for its last line. */
const tailBytes = 4 * 2 ** 20
/** After this many writes in a row without a complete line, writing has failed. */
const fruitlessLimit = 3

/**
 * Writes the raw log. Several processes may append to one file: each write has complete lines, and goes to the end
 * of the file. The file is checked before each write. Another process may have rotated, cleared or deleted it, or
 * been killed in the middle of a line.
 */
export class PayloadFile {
  readonly #options: PayloadFileOptions
  #active: ActiveSegment | null = null
  #isTidy = false
  #claims = 0

  constructor(options: PayloadFileOptions) {
    this.#options = options
  }

  /**
   * Appends lines, each with its line break. Without lines, only creates the folder and the file if they are
   * missing. Never throws; after an error, the next call opens the file again.
   */
  append(lines: readonly Uint8Array[]): Appended {
    let written = 0
    let fruitless = 0
    try {
      this.#ready()
      while (written < lines.length) {
        const more = this.#ready().append(lines.slice(written))
        written += more
        fruitless = more === 0 ? fruitless + 1 : 0
        if (fruitless === fruitlessLimit) throw new Error('writes are cut short')
      }
      return { written, error: null }
    } catch (error) {
      this.close()
      return { written, error }
    }
  }

  /** The seq of the last record; null without one. Throws the system's errors. */
  lastSeq(): number | null {
    const newest = listSegments(this.#options.filePath).findLast(({ bytes }) => bytes > 0)
    using segment = newest === undefined ? null : OpenSegment.open(newest.path)
    if (segment === null) return null
    const tail = segment.read(Math.max(0, segment.size - tailBytes), segment.size)
    const end = tail.lastIndexOf(lineBreak)
    return end <= 0 ? null : seqOf(tail, tail.lastIndexOf(lineBreak, end - 1) + 1)
  }

  /** Closes the file; the next `append` opens it again. */
  close(): void {
    this.#active?.close()
    this.#active = null
  }

  #ready(): ActiveSegment {
    const { filePath, segmentBytes } = this.#options
    if (!this.#isTidy) this.#tidy()
    this.#isTidy = true
    if (this.#active?.isCurrent() === false) this.close()
    this.#active ??= new ActiveSegment(filePath)
    if (this.#active.size < segmentBytes) return this.#active
    this.close()
    this.#rotate()
    this.#dropOldest()
    return (this.#active = new ActiveSegment(filePath))
  }

  /**
   * Renames segments that a killed process has claimed, or that were written to after their renaming. Deletes
   * old segments.
   */
  #tidy(): void {
    const { filePath } = this.#options
    for (const { path, firstSeq, records } of listSegments(filePath)) {
      // The process that claimed the segment may be renaming it. Then the rename of that process fails, which does
      // no harm.
      if (path !== filePath && records === null) this.#name(path, firstSeq)
    }
    this.#dropOldest()
  }

  /**
   * Makes the present active file a full segment; another process may have done so before. The file first
   * gets a name that only this process uses, so that its records can be counted and no file is overwritten.
   */
  #rotate(): void {
    const claimed = claimedPath(this.#options.filePath, ++this.#claims)
    if (renameIfThere(this.#options.filePath, claimed)) this.#name(claimed, null)
  }

  /** Deletes the oldest segments until the rest is within the limit. The active file stays. */
  #dropOldest(): void {
    const segments = listSegments(this.#options.filePath)
    let bytes = totalBytes(segments)
    for (const segment of segments) {
      if (bytes <= this.#options.totalBytes || segment.path === this.#options.filePath) return
      rmSync(segment.path, { force: true })
      bytes -= segment.bytes
    }
  }

  #name(path: string, firstSeq: number | null): void {
    using segment = OpenSegment.open(path)
    // The segment was deleted meanwhile.
    if (segment === null) return
    const { size } = segment
    let records = 0
    segment.eachRecord(0, size, () => {
      records++
      return false
    })
    const seq = firstSeq ?? this.#seqFor(segment)
    renameIfThere(path, fullPath(this.#options.filePath, seq, records, size))
  }

  /** The seq for the segment's name: that of its first record, or a later one if the segment would not be the newest. */
  #seqFor(segment: OpenSegment): number {
    const first = segment.newestOfFirst()
    const isNamed = ({ firstSeq }: Segment): boolean => firstSeq !== null
    const newest = listSegments(this.#options.filePath).findLast(isNamed)?.firstSeq ?? 0
    return Number.isFinite(first) && first > newest ? first : Math.max(this.#options.nextSeq(), newest + 1)
  }
}

function renameIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
