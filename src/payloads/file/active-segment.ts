import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statSync, writeSync, writevSync } from 'node:fs'
import { dirname } from 'node:path'
import { openIndex } from './mend-index.ts'
import { tornEnd, tornStart } from './payload-line.ts'
import { indexPath } from './payload-segments.ts'
import { readRange } from './read-range.ts'
import { encodeEntries, type IndexEntry } from './segment-index.ts'

/** A record to be appended: one line of JSON with its line break. */
export interface NewLine {
  readonly callId: number
  readonly bytes: Uint8Array
}

const lineBreak = 0x0a
/** How far back our own lines are looked for when others appended at the same time. */
const searchedBytes = 64 * 2 ** 20

/** A write that is under way adds something within this time, unless its process hardly gets to run. */
const growthMs = 100
const lookEveryMs = 2

/**
 * The active file, open for appending, with its index. Throws the system's errors. Against power loss nothing is
 * promised, so nothing is synced.
 */
export class ActiveSegment {
  readonly #path: string
  readonly #file: number
  readonly #fileNumber: number
  #index: number | null
  /** Where the file ended, with a line break, after the last write; -1 where that is not known. */
  #knownEnd = -1

  /** Makes the folder and the file where they are missing. */
  constructor(path: string) {
    this.#path = path
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    this.#file = openSync(path, 'a+', 0o600)
    try {
      this.#fileNumber = fstatSync(this.#file).ino
      this.#index = openIndex(path)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  get size(): number {
    return fstatSync(this.#file).size
  }

  /** Whether the file still is the one of its name. */
  isCurrent(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#fileNumber
  }

  /** In one write; answers how many lines, of the first, are whole in the file: all, unless the system cut it short. */
  append(lines: readonly NewLine[]): number {
    const before = this.size
    const closing = this.#isTorn(before) ? tornEnd : null
    const parts = lines.map(({ bytes }) => bytes)
    const written = writevSync(this.#file, closing === null ? parts : [closing, ...parts])
    const after = this.size
    const own = written - (closing?.length ?? 0)
    const kept = countWhole(parts, own)
    const isAlone = after - before === written
    this.#knownEnd = isAlone && kept === lines.length ? after : -1
    const first = lines[0]
    if (kept === 0 || first === undefined) return 0
    if (isAlone) this.#note(lines.slice(0, kept), before + written - own)
    else this.#noteFound(lines.slice(0, kept), first, { before, after, written, isClosed: closing !== null })
    return kept
  }

  close(): void {
    closeQuietly(this.#file)
    closeQuietly(this.#index)
  }

  /** A line that another process is just writing has no end yet, either: it grows. */
  #isTorn(size: number): boolean {
    if (size === 0 || size === this.#knownEnd) return false
    if (readRange(this.#file, size - 1, size)[0] === lineBreak) return false
    for (let waitedMs = 0; waitedMs < growthMs; waitedMs += lookEveryMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookEveryMs)
      const later = this.size
      if (later !== size) return this.#isTorn(later)
    }
    return true
  }

  /** Others wrote, or cleared the file, at the same time: our lines lie somewhere in what is new. */
  #noteFound(
    lines: readonly NewLine[],
    first: NewLine,
    write: { before: number; after: number; written: number; isClosed: boolean },
  ): void {
    const { before, after, written, isClosed } = write
    const from = Math.max(after >= before + written ? before : 0, after - searchedBytes)
    const region = readRange(this.#file, from, after)
    const at = region.indexOf(first.bytes)
    // Cleared away already, or too far: the index may leave it out.
    if (at < 0) return
    if (at === 0 || isClosed || region[at - 1] === lineBreak) {
      this.#note(lines, from + at)
      return
    }
    // Another process was killed while it wrote, just before us: our first line continues its torn one.
    this.#strike(this.#lineStart(from + at))
    this.#note(lines.slice(1), from + at + first.bytes.length)
    this.append([first])
  }

  #lineStart(offset: number): number {
    const from = Math.max(0, offset - searchedBytes)
    return from + readRange(this.#file, from, offset).lastIndexOf(lineBreak) + 1
  }

  #strike(offset: number): void {
    if (!this.isCurrent()) return
    const file = openSync(this.#path, 'r+')
    try {
      writeSync(file, tornStart, 0, 1, offset)
    } finally {
      closeSync(file)
    }
  }

  /** The index only helps: where it cannot be written, it goes, and readers search. */
  #note(lines: readonly NewLine[], start: number): void {
    if (this.#index === null) return
    const entries: IndexEntry[] = []
    let offset = start
    for (const { callId, bytes } of lines) {
      entries.push({ callId, offset, length: bytes.length })
      offset += bytes.length
    }
    const encoded = encodeEntries(entries)
    try {
      if (writeSync(this.#index, encoded) === encoded.length) return
    } catch {
      // As when it is cut short.
    }
    closeQuietly(this.#index)
    this.#index = null
    if (this.isCurrent()) removeQuietly(indexPath(this.#path))
  }
}

function countWhole(parts: readonly Uint8Array[], bytes: number): number {
  let end = 0
  const cut = parts.findIndex((part) => (end += part.length) > bytes)
  return cut < 0 ? parts.length : cut
}

function closeQuietly(file: number | null): void {
  try {
    if (file !== null) closeSync(file)
  } catch {
    // It could not be written before either.
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Readers find out that it is not true.
  }
}
