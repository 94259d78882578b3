import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { orNullIfMissing } from '../../lib/errors.ts'
import { isCompleteLine, lineBreak, seqsIn } from './payload-line.ts'
import { readRange } from '../../lib/files/read-file.ts'

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
    return orNullIfMissing(() => new OpenSegment(openSync(path, 'r')))
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

  /** Number of complete records. */
  count(): number {
    let records = 0
    this.eachRecord(0, this.size, () => {
      records++
      return false
    })
    return records
  }

  /**
   * The highest seq of the first few records; infinity without a record. A single record may mislead: a request that
   * was held back has an older seq than its neighbours.
   */
  newestOfFirst(): number {
    for (let bytes = probeBytes; ; bytes *= 4) {
      const seqs = seqsIn(this.read(0, Math.min(this.size, bytes)))
      if (seqs.length > 1) return Math.max(...seqs)
      if (bytes >= this.size) return seqs[0] ?? Number.POSITIVE_INFINITY
    }
  }
}
