import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { codeOf } from './file-trouble.ts'
import { callIdOf, isWhole } from './payload-line.ts'
import { indexPath } from './payload-segments.ts'
import { readRange } from './read-range.ts'
import { entriesIn, type Gap, type IndexEntry, SegmentIndex } from './segment-index.ts'

const blockBytes = 4 * 2 ** 20
const lineBreak = 0x0a

/** What a segment holds, as its index says and as was found where the index says nothing. */
export interface SegmentContent {
  readonly count: number
  /** Records that the index should name and does not. */
  readonly unnamed: readonly IndexEntry[]
  /** Bytes that had to be read to find them. */
  readonly searchedBytes: number
}

/** A segment to read from, and its index, as both are at this moment. Throws the system's errors. */
export class OpenSegment implements Disposable {
  readonly #file: number
  readonly #path: string
  readonly size: number
  /** By which the file system knows it, whatever its name. */
  readonly fileNumber: number
  #index: SegmentIndex | null = null
  #content: SegmentContent | null = null

  private constructor(path: string, file: number) {
    this.#path = path
    this.#file = file
    const { size, ino } = fstatSync(file)
    this.size = size
    this.fileNumber = ino
  }

  /** Null where it has gone. */
  static open(path: string): OpenSegment | null {
    try {
      return new OpenSegment(path, openSync(path, 'r'))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  read(start: number, end: number): Buffer {
    return readRange(this.#file, start, end)
  }

  /** Whether its index was made for it and ends with a whole entry, so that it can be continued. */
  hasOwnIndex(): boolean {
    const index = this.#indexed()
    return index.fileNumber === this.fileNumber && index.isEven
  }

  /** Cheap where the index is whole; else what it leaves out is searched. */
  content(): SegmentContent {
    return (this.#content ??= this.#search())
  }

  /** The records of a call, without their line breaks. */
  recordsOf(callId: number): Buffer[] {
    const named = this.#indexed().entriesOf(callId)
    const found = this.content().unnamed.filter((entry) => entry.callId === callId)
    return [...named, ...found].map((entry) => this.#record(entry)).filter((record) => record !== null)
  }

  /** All records of the segment as index entries, in the order of the file, read from the file itself. */
  entries(): IndexEntry[] {
    return this.#entriesIn([{ start: 0, end: this.size }])
  }

  #search(): SegmentContent {
    const said = this.#indexed().gaps(this.size)
    const gaps = said?.gaps ?? [{ start: 0, end: this.size }]
    const unnamed = this.#entriesIn(gaps)
    const searchedBytes = gaps.reduce((sum, { start, end }) => sum + end - start, 0)
    return { count: (said?.count ?? 0) + unnamed.length, unnamed, searchedBytes }
  }

  #entriesIn(gaps: readonly Gap[]): IndexEntry[] {
    return gaps.flatMap(({ start, end }) => {
      const found: IndexEntry[] = []
      let reach = blockBytes
      let at = start
      while (at < end) {
        const block = this.read(at, Math.min(end, at + reach))
        if (block.length === 0) break
        const whole = block.lastIndexOf(lineBreak) + 1
        for (const entry of entriesIn(block.subarray(0, whole), at)) found.push(entry)
        if (whole === 0 && at + block.length >= end) break
        // A line longer than a block: it needs a larger one.
        reach = whole === 0 ? reach * 2 : blockBytes
        at += whole
        if (whole > 0 && at + (block.length - whole) >= end) break
      }
      return found
    })
  }

  /** One that is not true in a few places is not believed anywhere. */
  #indexed(): SegmentIndex {
    if (this.#index !== null) return this.#index
    const index = new SegmentIndex(readIfThere(indexPath(this.#path)))
    const isTrue = index.samples(this.size).every((entry) => this.#record(entry) !== null)
    return (this.#index = isTrue ? index : new SegmentIndex(new Uint8Array()))
  }

  /** Null where the entry is not true. */
  #record({ callId, offset, length }: IndexEntry): Buffer | null {
    const line = this.read(offset, offset + length)
    const end = length - 1
    const isTrue = line.length === length && line[end] === lineBreak && line.indexOf(lineBreak) === end
    return isTrue && isWhole(line, 0, end) && callIdOf(line, 0) === callId ? line.subarray(0, end) : null
  }
}

function readIfThere(path: string): Uint8Array {
  try {
    const bytes = readFileSync(path)
    // Numbers of 8 bytes can be looked at only where their place is a multiple of 8.
    return bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Uint8Array()
    throw error
  }
}
