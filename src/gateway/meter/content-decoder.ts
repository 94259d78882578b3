import type { Transform } from 'node:stream'
import { type ContentCoding, mostDecodedBytes } from '../../lib/http/content-coding.ts'

/** Receives decoded bytes, with the arrival time of their encoded bytes (monotonic ms). */
export type DecodedReceiver = (decoded: Uint8Array, atMs: number) => void

/** When decoded bytes are needed: for a stream piece by piece, for a body at the end. */
export type DecodingPace = 'as-it-comes' | 'at-the-end'

/** Bytes of all answers that wait to be decoded, and their limit. Upstreams may send faster than zlib decodes. */
let waitingBytes = 0
const mostWaitingBytes = 64 * 1024 * 1024
/**
 * Limits of a body that is decoded at once, on the thread that serves all calls: its bytes, and their growth.
 * Decoding takes at most some tens of microseconds, a fraction of the cost of a decoding stream.
 */
const oneGo = { encodedBytes: 16 * 1024, decodedBytes: 64 * 1024, baseBytes: 4096, growth: 32 }

/**
 * Decodes a copy of a content-coded body. A small body is decoded at once at its end; any other chunk by
 * chunk on zlib's threads, off the path of calls. On bad input, or too much growth, decoding ends silently.
 */
export class ContentDecoder implements Disposable {
  readonly #coding: ContentCoding
  readonly #pace: DecodingPace
  readonly #receive: DecodedReceiver
  #settled: PromiseWithResolvers<void> | null = null
  #isSettled = false
  /** Bytes from before the decoding stream. */
  #buffered: Buffer[] = []
  #stream: Transform | null = null
  /** Arrival times of the bytes that the stream has not decoded yet. */
  #arrivals: number[] = []
  /** Arrival time of the newest bytes. */
  #lastMs = 0
  #encodedBytes = 0
  #decodedBytes = 0
  /** True if the decoding failed, so that parts of the answer are missing. */
  failed = false

  constructor(coding: ContentCoding, pace: DecodingPace, receive: DecodedReceiver) {
    this.#coding = coding
    this.#pace = pace
    this.#receive = receive
  }

  /** Resolves, after `end`, when everything is decoded or given up; `null` if that is the case already. */
  settled(): Promise<void> | null {
    if (this.#isSettled) return null
    this.#settled ??= Promise.withResolvers()
    return this.#settled.promise
  }

  write(chunk: Uint8Array, atMs: number): void {
    if (this.#isSettled || chunk.length === 0) return
    this.#encodedBytes += chunk.length
    this.#lastMs = atMs
    this.#buffered.push(Buffer.from(chunk))
    if (this.#pace === 'as-it-comes' || this.#encodedBytes > oneGo.encodedBytes) this.#decode(atMs)
  }

  end(): void {
    if (this.#isSettled) return
    if (this.#encodedBytes === 0) {
      this.#settle()
      return
    }
    if (this.#stream === null && this.#decodedInOneGo()) return
    if (this.#buffered.length > 0) this.#decode(this.#lastMs)
    this.#stream?.end()
  }

  /** Ends the decoding; the rest is not needed. */
  [Symbol.dispose](): void {
    this.#abort()
  }

  #decodedInOneGo(): boolean {
    const [first, second] = this.#buffered
    if (first === undefined) return false
    const bytes = second === undefined ? first : Buffer.concat(this.#buffered)
    const most = Math.min(oneGo.decodedBytes, oneGo.baseBytes + bytes.length * oneGo.growth)
    let decoded: Buffer
    try {
      decoded = this.#coding.decode(bytes, most)
    } catch {
      // The output is too large, or the input is bad. The stream on the threads reports which.
      return false
    }
    this.#hand(decoded, this.#lastMs)
    this.#settle()
    return true
  }

  /** Passes the held bytes to the decoding stream. */
  #decode(atMs: number): void {
    const stream = (this.#stream ??= this.#open(this.#buffered[0]?.[0] ?? 0))
    for (const bytes of this.#buffered) {
      this.#arrivals.push(atMs)
      waitingBytes += bytes.length
      // The callback also runs when the stream is destroyed.
      stream.write(bytes, () => {
        waitingBytes -= bytes.length
        this.#arrivals.shift()
      })
    }
    this.#buffered = []
    if (waitingBytes > mostWaitingBytes) this.#abort()
  }

  #open(first: number): Transform {
    const stream = this.#coding.stream(first)
    stream.on('data', (decoded: Buffer) => {
      if (this.#isSettled) return
      this.#decodedBytes += decoded.length
      if (this.#decodedBytes > mostDecodedBytes(this.#encodedBytes)) this.#abort()
      else this.#hand(decoded, this.#arrivals[0] ?? 0)
    })
    stream.on('error', () => this.#abort())
    stream.on('end', () => this.#settle())
    return stream
  }

  #hand(decoded: Buffer, atMs: number): void {
    try {
      this.#receive(decoded, atMs)
    } catch {
      this.#abort()
    }
  }

  #abort(): void {
    this.failed = true
    this.#settle()
  }

  #settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#buffered = []
    this.#stream?.destroy()
    this.#settled?.resolve()
  }
}
