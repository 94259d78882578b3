import type { OpenSegment } from './open-segment.ts'
import { isWhole } from './payload-line.ts'

/** Why there are no more lines to be taken. */
export type RecentEnd = 'enough' | 'too_large'

const lineBreak = 0x0a
const firstBlockBytes = 256 * 1024
const largestBlockBytes = 4 * 2 ** 20

/** Gathers the newest records of a log from its end, without reading what is in them. */
export class RecentLines {
  readonly #limit: number
  readonly #bytesLimit: number
  readonly #lines: Uint8Array[] = []
  #bytes = 0
  #blockBytes = firstBlockBytes

  constructor(limit: number, bytesLimit: number) {
    this.#limit = limit
    this.#bytesLimit = bytesLimit
  }

  /** From the end of this segment, which is older than those before; null where it had too few. */
  take(segment: Pick<OpenSegment, 'size' | 'read'>): RecentEnd | null {
    let start = segment.size
    /** The beginning, without its first line break, of what was read last: the end of a line that begins earlier. */
    let rest: Uint8Array = new Uint8Array()
    let isTail = true
    while (start > 0) {
      const from = Math.max(0, start - this.#blockBytes)
      const read = segment.read(from, start)
      // Emptied meanwhile.
      if (read.length < start - from) return null
      const block = rest.length === 0 ? read : Buffer.concat([read, rest])
      let end = block.length
      for (;;) {
        const before = end === 0 ? -1 : block.lastIndexOf(lineBreak, end - 1)
        if (before < 0) break
        if (!isTail) {
          const done = this.#add(block, before + 1, end)
          if (done !== null) return done
        }
        // What stands behind the last line break of all is no line yet.
        isTail = false
        end = before
      }
      rest = block.subarray(0, end)
      start = from
      this.#blockBytes = Math.min(largestBlockBytes, this.#blockBytes * 2)
    }
    return isTail ? null : this.#add(rest, 0, rest.length)
  }

  /** The answer of `recent`, in a buffer of its own. */
  toJson(totalCount: number, truncated: boolean): Uint8Array<ArrayBuffer> {
    const head = '{"entries":['
    const tail = `],"total_count":${totalCount},"truncated":${truncated}}`
    const commas = Math.max(0, this.#lines.length - 1)
    const json = Buffer.allocUnsafeSlow(head.length + this.#bytes + commas + tail.length)
    let at = json.write(head, 'latin1')
    for (const [index, line] of this.#lines.entries()) {
      if (index > 0) at += json.write(',', at, 'latin1')
      json.set(line, at)
      at += line.length
    }
    json.write(tail, at, 'latin1')
    return json
  }

  #add(block: Uint8Array, start: number, end: number): RecentEnd | null {
    if (!isWhole(block, start, end)) return null
    if (this.#lines.length >= this.#limit) return 'enough'
    if (this.#bytes + end - start > this.#bytesLimit) return 'too_large'
    this.#lines.push(block.subarray(start, end))
    this.#bytes += end - start
    return this.#lines.length >= this.#limit ? 'enough' : null
  }
}
