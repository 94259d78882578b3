import type { RawHeaders } from '../../call/call-observer.ts'

/** What is known of a body when it is over: how much of it was on the wire, and if all of that was copied. */
interface TapBody {
  readonly wallTimeMs: number
  readonly totalBytes: number
  readonly truncated: boolean
}

/** What a tap saw that is not bytes, by its kind. */
export interface TapWords {
  readonly begin: {
    readonly callId: number
    readonly wallTimeMs: number
    readonly method: string
    readonly path: string
    readonly headers: RawHeaders
  }
  readonly requestEnd: TapBody & { readonly model: string | null; readonly stream: boolean }
  readonly answerHead: { readonly status: number; readonly headers: RawHeaders }
  readonly ended: TapBody & {
    readonly outcome: string
    readonly failureCode: string | null
    readonly durationMs: number
  }
}
type WordsKind = keyof TapWords
type DataKind = 'requestData' | 'answerData'

/** One thing that a tap saw. Its number is that of its call's tap, given by the main thread. */
export type TapItem = { readonly tap: number } & (
  | { [K in WordsKind]: { readonly kind: K } & TapWords[K] }[WordsKind]
  /**
   * `data` may be empty: then it tells only that something came, at this offset in ms; NaN if a piece goes on, and 0 of
   * requests.
   */
  | { readonly kind: DataKind; readonly data: Buffer; readonly offsetMs: number }
)

const kinds = ['begin', 'requestData', 'requestEnd', 'answerHead', 'answerData', 'ended'] as const
/** Kind, tap, bytes that follow, offset in ms. */
const headBytes = 1 + 4 + 4 + 8

/**
 * What taps see, on its way to the thread: bytes of bodies in one buffer that changes hands, the rest as JSON.
 * Structured cloning of the same as objects takes several times as long.
 */
export class TapBatch {
  #buffer: Buffer
  #length = 0
  #texts: string[] = []
  #textLength = 0

  constructor(buffer: ArrayBuffer) {
    this.#buffer = Buffer.from(buffer)
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** Of memory that it takes, filled or not. */
  get bytes(): number {
    return this.#buffer.length + this.#textLength
  }

  /**
   * Adds as much of the data as there is room for, from `start`; answers where the rest begins, or -1 where there
   * was no room at all.
   */
  addData(kind: DataKind, tap: number, data: Uint8Array, start: number, offsetMs: number): number {
    const room = this.#buffer.length - this.#length - headBytes
    if (room < 0 || (room === 0 && start < data.length)) return -1
    const end = Math.min(data.length, start + room)
    this.#addHead(kind, tap, end - start, offsetMs)
    this.#buffer.set(start === 0 && end === data.length ? data : data.subarray(start, end), this.#length)
    this.#length += end - start
    return end
  }

  /** False where there is no room. */
  addWords<K extends WordsKind>(kind: K, tap: number, words: TapWords[K]): boolean {
    if (this.#buffer.length - this.#length < headBytes) return false
    this.#addHead(kind, tap, 0, 0)
    const text = JSON.stringify(words)
    this.#texts.push(text)
    this.#textLength += text.length
    return true
  }

  /** What is to be sent; the buffer is given away with it. */
  seal(): { readonly bytes: ArrayBuffer; readonly length: number; readonly texts: readonly string[] } {
    return { bytes: this.#buffer.buffer as ArrayBuffer, length: this.#length, texts: this.#texts }
  }

  #addHead(kind: TapItem['kind'], tap: number, bytes: number, offsetMs: number): void {
    const buffer = this.#buffer
    const at = this.#length
    buffer[at] = kinds.indexOf(kind)
    buffer.writeUInt32LE(tap, at + 1)
    buffer.writeUInt32LE(bytes, at + 5)
    buffer.writeDoubleLE(offsetMs, at + 9)
    this.#length = at + headBytes
  }
}

/** What a batch holds, in order. Data are views of `bytes`. */
export function* tapItems(bytes: ArrayBuffer, length: number, texts: readonly string[]): Generator<TapItem> {
  const buffer = Buffer.from(bytes, 0, length)
  let nextText = 0
  let at = 0
  while (at < length) {
    const kind = kinds[buffer[at] ?? 0] ?? 'begin'
    const tap = buffer.readUInt32LE(at + 1)
    const dataBytes = buffer.readUInt32LE(at + 5)
    const offsetMs = buffer.readDoubleLE(at + 9)
    at += headBytes
    const data = buffer.subarray(at, at + dataBytes)
    at += dataBytes
    if (kind === 'requestData' || kind === 'answerData') yield { kind, tap, data, offsetMs }
    else yield { kind, tap, ...JSON.parse(texts[nextText++] ?? '{}') }
  }
}
