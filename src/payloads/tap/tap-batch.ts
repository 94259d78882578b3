import type { RawHeaders } from '../../call/call-observer.ts'

/** One thing that a tap saw. Its number is that of its call's tap, given by the main thread. */
export type TapItem =
  | ({ readonly kind: 'begin'; readonly tap: number } & TapBegin)
  | { readonly kind: 'requestData'; readonly tap: number; readonly data: Buffer }
  | ({ readonly kind: 'requestEnd'; readonly tap: number } & TapRequestEnd)
  | ({ readonly kind: 'answerHead'; readonly tap: number } & TapAnswerHead)
  /** `data` may be empty: then it tells only that something came, at this offset; NaN where a piece goes on. */
  | { readonly kind: 'answerData'; readonly tap: number; readonly data: Buffer; readonly offsetMs: number }
  | ({ readonly kind: 'ended'; readonly tap: number } & TapEnd)

export interface TapBegin {
  readonly callId: number
  readonly wallTimeMs: number
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
}

export interface TapAnswerHead {
  readonly status: number
  readonly headers: RawHeaders
}

/** What is known of a body when it is over: how much of it was on the wire, and whether all of that was copied. */
interface TapBody {
  readonly totalBytes: number
  readonly truncated: boolean
}

export interface TapRequestEnd extends TapBody {
  readonly wallTimeMs: number
  readonly model: string | null
  readonly stream: boolean
}

export interface TapEnd extends TapBody {
  readonly wallTimeMs: number
  readonly outcome: string
  readonly failureCode: string | null
  readonly durationMs: number
}

const kinds = ['begin', 'requestData', 'requestEnd', 'answerHead', 'answerData', 'ended'] as const
/** Kind, tap, bytes that follow, offset in ms. */
const headBytes = 1 + 4 + 4 + 8
type DataKind = 'requestData' | 'answerData'
/** What is not bytes, by its kind. */
export interface TapWords {
  readonly begin: TapBegin
  readonly requestEnd: TapRequestEnd
  readonly answerHead: TapAnswerHead
  readonly ended: TapEnd
}
type WordsKind = keyof TapWords

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

  #addHead(kind: (typeof kinds)[number], tap: number, bytes: number, offsetMs: number): void {
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
    if (kind === 'requestData') yield { kind, tap, data }
    else if (kind === 'answerData') yield { kind, tap, data, offsetMs }
    else yield { kind, tap, ...JSON.parse(texts[nextText++] ?? '{}') }
  }
}
