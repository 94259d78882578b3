import type { Transform } from 'node:stream'
import type { ContentCoding } from './content-coding.ts'

/** Where decoded bytes go, with the time at which the bytes that they come from arrived. */
export type DecodedReceiver = (decoded: Uint8Array, atMs: number) => void

/** When its receiver wants them: of a stream piece by piece, of a body when all are there. */
export type DecodingPace = 'as-it-comes' | 'at-the-end'

/** No more is decoded than this, nor held while it waits. */
const defaultLimit = 8 * 1024 * 1024
/**
 * Within the limit, what decodes to more than this may not have grown by more than the factor: it is a bomb.
 * Events in which a model says the same thing over and over grow by 200.
 */
const smallBytes = 2 * 1024 * 1024
const largestGrowth = 300
/**
 * What is decoded in one go costs its time on the thread that serves everybody: a body of so many bytes, and
 * what it may grow to. Some tens of microseconds, a fraction of what a stream costs to set up and tear down.
 */
const oneGo = { encodedBytes: 16 * 1024, decodedBytes: 64 * 1024, baseBytes: 4096, growth: 32 }

/**
 * Decodes a copy of a content-coded body: a small one in one go when it is over, any other off the path, on
 * zlib's threads, one chunk at a time. Gives up for good, and silently, on bad input and beyond its limits.
 */
export class ContentDecoder {
  readonly #coding: ContentCoding
  readonly #pace: DecodingPace
  readonly #receive: DecodedReceiver
  readonly #limit: number
  #settled: PromiseWithResolvers<void> | null = null
  #stream: Transform | null = null
  #waiting: { readonly bytes: Buffer; readonly atMs: number }[] = []
  #waitingBytes = 0
  #encodedBytes = 0
  #busy = false
  #ending = false
  #isSettled = false
  /** It gave up: something is missing from what was received. */
  failed = false
  #decodedBytes = 0
  /** Arrival of the bytes that are being decoded. */
  #atMs = 0

  constructor(
    coding: ContentCoding,
    pace: DecodingPace,
    receive: DecodedReceiver,
    limit: number = defaultLimit,
  ) {
    this.#coding = coding
    this.#pace = pace
    this.#receive = receive
    this.#limit = limit
  }

  /** When all has been decoded or given up, after `end`; `null` where that is so already. */
  settled(): Promise<void> | null {
    if (this.#isSettled) return null
    this.#settled ??= Promise.withResolvers()
    return this.#settled.promise
  }

  write(chunk: Uint8Array, atMs: number): void {
    if (this.#isSettled || chunk.length === 0) return
    this.#encodedBytes += chunk.length
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > this.#limit) {
      this.#giveUp()
      return
    }
    this.#waiting.push({ bytes: Buffer.from(chunk), atMs })
    if (this.#pace === 'as-it-comes' || this.#encodedBytes > oneGo.encodedBytes) this.#next()
  }

  end(): void {
    this.#ending = true
    if (!this.#decodedInOneGo()) this.#next()
  }

  #decodedInOneGo(): boolean {
    if (this.#pace === 'as-it-comes' || this.#stream !== null || this.#isSettled) return false
    const [first, second] = this.#waiting
    if (first === undefined) return false
    const bytes = second === undefined ? first.bytes : Buffer.concat(this.#waiting.map((each) => each.bytes))
    const most = Math.min(oneGo.decodedBytes, oneGo.baseBytes + bytes.length * oneGo.growth, this.#limit)
    let decoded: Buffer
    try {
      decoded = this.#coding.whole(bytes, most)
    } catch {
      // Too much, or bad: the threads find out.
      return false
    }
    this.#atMs = this.#waiting.at(-1)?.atMs ?? 0
    this.#hand(decoded)
    this.#settle()
    return true
  }

  #next(): void {
    if (this.#busy || this.#isSettled) return
    const piece = this.#waiting.shift()
    if (piece === undefined) {
      if (!this.#ending) return
      if (this.#stream === null) this.#settle()
      else this.#stream.end()
      return
    }
    this.#busy = true
    this.#waitingBytes -= piece.bytes.length
    this.#atMs = piece.atMs
    this.#stream ??= this.#open(piece.bytes[0] ?? 0)
    this.#stream.write(piece.bytes, () => {
      this.#busy = false
      this.#next()
    })
  }

  #open(first: number): Transform {
    const stream = this.#coding.stream(first)
    stream.on('data', (decoded: Buffer) => {
      if (this.#isSettled) return
      this.#decodedBytes += decoded.length
      const most = Math.min(this.#limit, Math.max(smallBytes, this.#encodedBytes * largestGrowth))
      if (this.#decodedBytes > most) this.#giveUp()
      else this.#hand(decoded)
    })
    stream.on('error', () => this.#giveUp())
    stream.on('end', () => this.#settle())
    return stream
  }

  #hand(decoded: Buffer): void {
    try {
      this.#receive(decoded, this.#atMs)
    } catch {
      this.#giveUp()
    }
  }

  #giveUp(): void {
    this.failed = true
    this.#settle()
  }

  #settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#waiting = []
    this.#stream?.destroy()
    this.#settled?.resolve()
  }
}
