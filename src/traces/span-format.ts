import type { CallSpan } from './call-span.ts'

/** Who sends the spans: attributes of the resource, and the scope's name and version. */
export interface SpanSource {
  readonly resource: Readonly<Record<string, string>>
  readonly name: string
  readonly version: string
}

/** What a receiver says of a request that it took. */
export interface Acceptance {
  /** Spans that it took and threw away. */
  readonly rejected: number
  readonly message: string
}

/** One of the two encodings of OTLP over HTTP. */
export interface SpanFormat {
  readonly contentType: string
  append(span: CallSpan, to: SpanBytes): void
  /** The body of a request, in parts, of the bytes that a number of spans were appended to. */
  request(spans: Buffer): readonly Buffer[]
  /** Reads the body of a 200. Throws if it is none of this encoding. */
  acceptance(body: Buffer): Acceptance
}

const firstCapacity = 64 * 1024

/** Bytes that spans are appended to. */
export class SpanBytes {
  bytes: Buffer = Buffer.allocUnsafeSlow(firstCapacity)
  length = 0

  /** Makes room for so many more bytes. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** What was appended, in memory of its own and of no more than that; empties this. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.length)
    this.bytes.copy(taken, 0, 0, this.length)
    this.length = 0
    return taken
  }
}
