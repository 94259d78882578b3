import { closeSync, constants, fstatSync, statSync, writevSync } from 'node:fs'
import { orNull } from '../../lib/errors.ts'
import { openOwnFile } from '../../lib/files/file-rights.ts'
import { inFolder } from './lock-payloads.ts'
import { lineBreak, tornEnd } from './payload-line.ts'
import { readRange } from '../../lib/files/read-file.ts'

/**
 * The active file, open for appending. Its user holds the log's lock. Throws the system's errors. Nothing is synced:
 * a power cut may lose the end.
 */
export class ActiveSegment {
  readonly #path: string
  readonly #file: number
  readonly #fileNumber: number

  /** Opens the file; makes it and its folder if they are missing. */
  constructor(path: string) {
    this.#path = path
    this.#file = inFolder(path, () => openOwnFile(path, constants.O_RDWR | constants.O_APPEND))
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
    const { size } = this
    // A process was killed in the middle of a line.
    const isTorn = size > 0 && readRange(this.#file, size - 1, size)[0] !== lineBreak
    const parts = isTorn ? [tornEnd, ...lines] : lines
    const wholeParts = countWhole(parts, writevSync(this.#file, parts))
    return Math.max(0, wholeParts - (isTorn ? 1 : 0))
  }

  close(): void {
    // If the file cannot be closed, it could not be written either, and that was reported.
    orNull(() => closeSync(this.#file))
  }
}

function countWhole(parts: readonly Uint8Array[], bytes: number): number {
  let end = 0
  const cut = parts.findIndex((part) => (end += part.length) > bytes)
  return cut < 0 ? parts.length : cut
}
