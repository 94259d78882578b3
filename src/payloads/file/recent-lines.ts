import { joined } from '../../lib/byte-gather.ts'
import type { OpenSegment } from './open-segment.ts'
import { isCompleteLine, lineBreak } from './payload-line.ts'

/** Why no more lines are read. */
export type RecentEnd = 'enough' | 'too_large'

const firstBlockBytes = 256 * 1024

/** Gathers the newest records of a log from its end, without parsing them. */
export class RecentLines {
  readonly #limit: number
  readonly #bytesLimit: number
  #lines: readonly Uint8Array[] = []

  constructor(limit: number, bytesLimit: number) {
    this.#limit = limit
    this.#bytesLimit = bytesLimit
  }

  /**
   * Adds lines from the end of a segment, which must be older than earlier segments. Returns why no more
   * lines are needed; null if more are.
   */
  take(segment: Pick<OpenSegment, 'size' | 'read'>): RecentEnd | null {
    for (let bytes = firstBlockBytes; ; bytes *= 4) {
      const start = Math.max(0, segment.size - bytes)
      const { lines, end } = this.#with(segment.read(start, segment.size), start === 0)
      if (end === null && start > 0) continue
      this.#lines = lines
      return end
    }
  }

  /** The answer of `recent`, in a new buffer. */
  toJson(totalCount: number, truncated: boolean): Uint8Array<ArrayBuffer> {
    const comma = Buffer.from(',')
    const parts = this.#lines.flatMap((line, index) => (index === 0 ? [line] : [comma, line]))
    const tail = `],"total_count":${totalCount},"truncated":${truncated}}`
    return joined([Buffer.from('{"entries":['), ...parts, Buffer.from(tail)])
  }

  /**
   * Adds the lines of a block after the newer lines. `isBeginning`: the block begins a file, so its first
   * line is complete.
   */
  #with(block: Buffer, isBeginning: boolean): { lines: readonly Uint8Array[]; end: RecentEnd | null } {
    const lines = [...this.#lines]
    let bytes = lines.reduce((sum, { length }) => sum + length, 0)
    // Bytes after the last line break are an incomplete line.
    for (let end = block.lastIndexOf(lineBreak); end > 0 && lines.length < this.#limit;) {
      const before = block.lastIndexOf(lineBreak, end - 1)
      if (before < 0 && !isBeginning) break
      if (isCompleteLine(block, before + 1, end)) {
        bytes += end - before - 1
        if (bytes > this.#bytesLimit) return { lines, end: 'too_large' }
        lines.push(block.subarray(before + 1, end))
      }
      end = before
    }
    return { lines, end: lines.length < this.#limit ? null : 'enough' }
  }
}
