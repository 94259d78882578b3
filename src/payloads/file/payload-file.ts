import { renameSync, rmSync } from 'node:fs'
import { ActiveSegment } from './active-segment.ts'
import { orNullIfMissing } from '../../lib/errors.ts'
import { lockPayloads } from './lock-payloads.ts'
import { OpenSegment } from './open-segment.ts'
import { lineBreak, seqOf } from './payload-line.ts'
import { fullPath, listSegments, totalBytes } from './payload-segments.ts'

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
 * Writes the raw log. Several processes may append to one file, one at a time. The file is checked before each write:
 * another process may have rotated, cleared or deleted it, or been killed in the middle of a line.
 */
export class PayloadFile {
  readonly #options: PayloadFileOptions
  #active: ActiveSegment | null = null

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
      using _lock = lockPayloads(this.#options.filePath)
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
    if (this.#active?.isCurrent() === false) this.close()
    if (this.#active === null) this.#dropOldest()
    this.#active ??= new ActiveSegment(filePath)
    if (this.#active.size < segmentBytes) return this.#active
    this.close()
    this.#rotate()
    return this.#ready()
  }

  /** Makes the active file a full segment, whose name has the number of its records. */
  #rotate(): void {
    const { filePath } = this.#options
    using segment = OpenSegment.open(filePath)
    if (segment === null) return
    const fullName = fullPath(filePath, this.#seqFor(segment), segment.count(), segment.size)
    // The file may have been deleted meanwhile.
    orNullIfMissing(() => renameSync(filePath, fullName))
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

  /** The seq for the segment's name: that of its first record, or a later one if the segment would not be the newest. */
  #seqFor(segment: OpenSegment): number {
    const first = segment.newestOfFirst()
    const newest = listSegments(this.#options.filePath).at(-2)?.firstSeq ?? 0
    return Number.isFinite(first) && first > newest ? first : Math.max(this.#options.nextSeq(), newest + 1)
  }
}
