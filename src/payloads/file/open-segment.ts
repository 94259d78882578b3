import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { codeOf } from '../../lib/errors.ts'
import { isCompleteLine, lineBreak, seqsIn } from './payload-line.ts'
import { readRange } from './read-range.ts'

const blockBytes = 256 * 1024
/** Bytes of a probe: usually several lines, because the seq of a single line may mislead. */
const probeBytes = 16 * 1024

/** A segment that is open for reading, with its present size. Throws the system's errors. */
export class OpenSegment implements Disposable {
  readonly #file: number
  readonly size: number

  private constructor(file: number) {
    this.#file = file
    this.size = fstatSync(file).size
  }

  /** Opens a segment; null if its file is gone. */
  static open(path: string): OpenSegment | null {
    try {
      return new OpenSegment(openSync(path, 'r'))
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

  /**
   * Calls back with each record between `start`, the beginning of a line, and `end`, until `onLine` returns true. The bytes are
   * valid during the callback only. Returns where the first unread line begins.
   */
  eachRecord(
    start: number,
    end: number,
    onLine: (bytes: Buffer, lineStart: number, lineEnd: number) => boolean,
  ): number {
    let block = Buffer.allocUnsafeSlow(blockBytes)
    let at = start
    let carried = 0
    while (at < end) {
      const readBytes = readSync(this.#file, block, carried, block.length - carried, at + carried)
      const read = block.subarray(0, carried + readBytes)
      let lineStart = 0
      let lineEnd = read.indexOf(lineBreak, carried)
      for (; lineEnd >= 0 && at + lineStart < end; lineEnd = read.indexOf(lineBreak, lineStart)) {
        const isRecord = isCompleteLine(read, lineStart, lineEnd)
        const isEnough = isRecord && onLine(read, lineStart, lineEnd)
        lineStart = lineEnd + 1
        if (isEnough) return at + lineStart
      }
      at += lineStart
      if (readBytes === 0) break
      carried = read.length - lineStart
      // A line longer than a block needs a larger block.
      const next = lineStart === 0 ? Buffer.allocUnsafeSlow(2 * block.length) : block
      read.copy(next, 0, lineStart)
      block = next
    }
    return at
  }

  /** The byte range of the records from `fromSeq` to `toSeq`, or a little more, by binary search. */
  rangeOf(fromSeq: number, toSeq: number): { readonly start: number; readonly end: number } {
    const { low } = this.#around(fromSeq)
    const { high } = this.#around(toSeq)
    return { start: low === 0 ? 0 : this.#lineBehind(low), end: high }
  }

  #around(seq: number): { readonly low: number; readonly high: number } {
    let low = seq === Number.POSITIVE_INFINITY ? this.size : 0
    let high = this.size
    while (high - low > probeBytes) {
      const middle = Math.floor((low + high) / 2)
      if (this.newestFrom(middle) < seq) low = middle
      else high = middle
    }
    return { low, high }
  }

  #lineBehind(offset: number): number {
    for (let from = offset; from < this.size; from += probeBytes) {
      const at = this.read(from, from + probeBytes).indexOf(lineBreak)
      if (at >= 0) return from + at + 1
    }
    return this.size
  }

  /**
   * The highest seq of a few records after an offset; infinity at the end. A single record may mislead: a request that was held
   * back has an older seq than its neighbours.
   */
  newestFrom(offset: number): number {
    for (let bytes = probeBytes; ; bytes *= 4) {
      const seqs = seqsIn(this.read(offset, Math.min(this.size, offset + bytes)))
      if (seqs.length > 1) return Math.max(...seqs)
      if (offset + bytes >= this.size) return seqs[0] ?? Number.POSITIVE_INFINITY
    }
  }
}
