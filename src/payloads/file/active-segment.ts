import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
  writeSync,
  writevSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../lib/errors.ts'
import { openOwnFile } from '../../lib/files/file-rights.ts'
import { lineBreak, tornEnd, tornStart } from './payload-line.ts'
import { readRange } from './read-range.ts'

/** Most bytes that are searched for our own lines when other processes appended at the same time. */
const searchedBytes = 64 * 2 ** 20

/** A write in progress adds bytes within this time, unless its process is starved. */
const growthMs = 100
const checkEveryMs = 2
/** Most tries to create a folder that others delete. */
const mostTries = 10

/** The active file, open for appending. Throws the system's errors. Nothing is synced: a power cut may lose the end. */
export class ActiveSegment {
  readonly #path: string
  readonly #file: number
  readonly #fileNumber: number
  /** The end of the file after our last write, if it is a line break; else -1. */
  #knownEnd = -1

  /** Opens the file; makes it and its folder if they are missing. */
  constructor(path: string) {
    this.#path = path
    this.#file = openInFolder(path)
    this.#fileNumber = fstatSync(this.#file).ino
  }

  get size(): number {
    return fstatSync(this.#file).size
  }

  /** True if the path still leads to this file. */
  isCurrent(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#fileNumber
  }

  /**
   * Appends lines in one write. Returns how many of them are complete in the file: all, unless the system cut
   * the write short. Throws the system's error.
   */
  append(lines: readonly Uint8Array[]): number {
    const before = this.size
    const isTorn = this.#isTorn(before)
    const parts = isTorn ? [tornEnd, ...lines] : [...lines]
    const writtenBytes = writevSync(this.#file, parts)
    const after = this.size
    const wholeLines = Math.max(0, countWhole(parts, writtenBytes) - (isTorn ? 1 : 0))
    const isAlone = after - before === writtenBytes
    this.#knownEnd = isAlone && wholeLines === lines.length ? after : -1
    const [first] = parts
    if (!isAlone && !isTorn && wholeLines > 0 && first !== undefined) {
      this.#mendJoin(first, after >= before + writtenBytes ? before : 0, after)
    }
    return wholeLines
  }

  close(): void {
    try {
      closeSync(this.#file)
    } catch {
      // If the file cannot be closed, it could not be written either, and that was reported.
    }
  }

  /** True if the last line has no end and does not grow. A line that another process is writing would grow. */
  #isTorn(size: number): boolean {
    if (size === 0 || size === this.#knownEnd) return false
    if (readRange(this.#file, size - 1, size)[0] === lineBreak) return false
    for (let waitedMs = 0; waitedMs < growthMs; waitedMs += checkEveryMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, checkEveryMs)
      const later = this.size
      if (later !== size) return this.#isTorn(later)
    }
    return true
  }

  /**
   * Repairs a join after other processes wrote at the same time, so that our lines begin somewhere after
   * `start`. If a process was killed during its write, our first line continues its torn line. Then both are
   * made invalid, and our first line is written again.
   */
  #mendJoin(first: Uint8Array, start: number, end: number): void {
    const from = Math.max(start, end - searchedBytes)
    const region = readRange(this.#file, from, end)
    const at = region.indexOf(first)
    if (at <= 0 || region[at - 1] === lineBreak || !this.isCurrent()) return
    const file = openSync(this.#path, constants.O_RDWR | constants.O_NOFOLLOW)
    try {
      writeSync(file, tornStart, 0, 1, from + region.lastIndexOf(lineBreak, at - 1) + 1)
    } finally {
      closeSync(file)
    }
    this.append([first])
  }
}

/** Opens a file and creates its folder, again if the folder is deleted meanwhile. */
function openInFolder(path: string): number {
  for (let tries = 1; ; tries++) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    try {
      return openOwnFile(path, constants.O_RDWR | constants.O_APPEND)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || tries === mostTries) throw error
    }
  }
}

function countWhole(parts: readonly Uint8Array[], bytes: number): number {
  let end = 0
  const cut = parts.findIndex((part) => (end += part.length) > bytes)
  return cut < 0 ? parts.length : cut
}
