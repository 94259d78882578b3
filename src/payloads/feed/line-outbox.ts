import type { FedEvent } from '../payload-messages.ts'

/** An event on its way to the file, to the feed, or to both. */
export interface OutgoingLine {
  /** Null of what is no record. */
  readonly seq: number | null
  /** One line, without its line break. */
  readonly json: string
  readonly toFile: boolean
  readonly toFeed: boolean
}

/** For the file lines with their breaks, for the feed offsets of the same without them, all in the same bytes. */
export interface Delivery {
  readonly bytes: Buffer<ArrayBuffer>
  readonly lines: readonly Uint8Array[]
  readonly events: readonly FedEvent[]
}

const lineBreak = 0x0a

/** Gathers events and turns them into bytes once, whoever gets them. */
export class LineOutbox {
  #waiting: OutgoingLine[] = []
  #size = 0

  /** In characters. */
  get size(): number {
    return this.#size
  }

  add(line: OutgoingLine): void {
    this.#waiting.push(line)
    this.#size += line.json.length + 1
  }

  /** All of it, in a buffer of its own. */
  empty(): Delivery {
    const waiting = this.#waiting
    this.#waiting = []
    this.#size = 0
    const lengths = waiting.map(({ json }) => Buffer.byteLength(json))
    const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length + 1, 0))
    const lines: Uint8Array[] = []
    const events: FedEvent[] = []
    let offset = 0
    for (const [at, { seq, json, toFile, toFeed }] of waiting.entries()) {
      const length = lengths[at] ?? 0
      bytes.write(json, offset)
      bytes[offset + length] = lineBreak
      if (toFile) lines.push(bytes.subarray(offset, offset + length + 1))
      if (toFeed) events.push({ seq, offset, length })
      offset += length + 1
    }
    return { bytes, lines, events }
  }
}
