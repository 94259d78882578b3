import zlib from 'node:zlib'
import type { Transform } from 'node:stream'

const defaultLimit = 8 * 1024 * 1024

/** Cut input is no error: what came is decoded. */
const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  'x-gzip': () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  deflate: (first) =>
    hasZlibHeader(first)
      ? zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
      : zlib.createInflateRaw({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush }),
}

/** Whether answers in this content coding (one, lower-cased) can be decoded. */
export function canDecode(coding: string): boolean {
  return Object.hasOwn(decoders, coding)
}

/**
 * Decodes a copy of a content-coded body, off the path: on zlib's threads, one chunk at a time. Gives up for
 * good, and silently, on bad input and beyond its limits.
 */
export class ContentDecoder {
  readonly #coding: string
  readonly #receive: (decoded: Uint8Array, atMs: number) => void
  readonly #limit: number
  readonly #settled: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  #stream: Transform | null = null
  #waiting: { readonly bytes: Buffer; readonly atMs: number }[] = []
  #waitingBytes = 0
  #busy = false
  #ending = false
  #isSettled = false
  #failed = false
  #decodedBytes = 0
  /** Arrival of the bytes that are being decoded. */
  #atMs = 0

  /** `receive` gets the decoded bytes, with the time at which the bytes that they come from arrived. */
  constructor(
    coding: string,
    receive: (decoded: Uint8Array, atMs: number) => void,
    limit: number = defaultLimit,
  ) {
    this.#coding = coding
    this.#receive = receive
    this.#limit = limit
  }

  /** Whether it gave up: something is missing from what was received. */
  get failed(): boolean {
    return this.#failed
  }

  /** When all has been decoded or given up, after `end`; `null` where that is so already. */
  settled(): Promise<void> | null {
    return this.#isSettled ? null : this.#settled.promise
  }

  write(chunk: Uint8Array, atMs: number): void {
    if (this.#isSettled || chunk.length === 0) return
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > this.#limit) {
      this.#giveUp()
      return
    }
    this.#waiting.push({ bytes: Buffer.from(chunk), atMs })
    this.#next()
  }

  end(): void {
    this.#ending = true
    this.#next()
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
    const stream = (decoders[this.#coding] ?? failedDecoder)(first)
    stream.on('data', (decoded: Buffer) => {
      if (this.#isSettled) return
      this.#decodedBytes += decoded.length
      if (this.#decodedBytes > this.#limit) this.#giveUp()
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
    this.#failed = true
    this.#settle()
  }

  #settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#waiting = []
    this.#stream?.destroy()
    this.#settled.resolve()
  }
}

/** RFC 1950 §2.2: the method 8 stands in the low half of the first byte. Some servers leave the header out. */
function hasZlibHeader(first: number): boolean {
  return (first & 0x0f) === 8
}

function failedDecoder(): Transform {
  throw new RangeError('canDecode was not asked')
}
