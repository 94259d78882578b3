import type { RawAnswer, RawRequest } from '../record/raw-payload.ts'

/** Events of a tap other than bytes, by kind, each with its time. */
export interface TapWords {
  readonly begin: Pick<RawRequest, 'callId' | 'wallTimeMs' | 'method' | 'path' | 'headers'>
  readonly requestEnd: Omit<RawRequest, Exclude<keyof TapWords['begin'], 'wallTimeMs'> | 'bytes'>
  readonly answerHead: { readonly status: number } & Pick<RawAnswer, 'headers'>
  readonly ended: TapWords['requestEnd'] &
    Pick<RawAnswer, 'outcome' | 'failureCode' | 'durationMs' | 'chunkOffsetsMs'>
}
type DataKind = 'requestData' | 'answerData'

/** One thing that a tap saw. Its number is that of its call's tap, given by the main thread. */
export type TapItem = { readonly tap: number } & (
  | { [K in keyof TapWords]: { readonly kind: K } & TapWords[K] }[keyof TapWords]
  | { readonly kind: DataKind; readonly data: Buffer }
)

/** A batch on its way: the bytes of bodies, one after the other, and the JSON text of the list of items. */
export interface SealedBatch {
  readonly bytes: ArrayBuffer
  readonly items: string
}

/**
 * Events of taps on their way to the thread: bytes of bodies in one buffer that changes hands, the rest as JSON.
 * Structured cloning of the same as objects takes several times as long.
 */
export class TapBatch {
  readonly #buffer: Buffer
  #length = 0
  readonly #items: string[] = []
  #itemsLength = 0

  constructor(buffer: ArrayBuffer) {
    this.#buffer = Buffer.from(buffer)
  }

  get isFull(): boolean {
    return this.#length === this.#buffer.length || this.#itemsLength >= this.#buffer.length
  }

  /** Bytes of allocated memory, filled or not. */
  get bytes(): number {
    return this.#buffer.length + this.#itemsLength
  }

  /** Adds as much of the data as there is room for, and answers how many bytes. */
  addData(kind: DataKind, tap: number, data: Uint8Array): number {
    const length = Math.min(data.length, this.#buffer.length - this.#length)
    this.#buffer.set(length < data.length ? data.subarray(0, length) : data, this.#length)
    this.#length += length
    this.#add(`{"kind":"${kind}","tap":${tap},"data":${length}}`)
    return length
  }

  addWords<K extends keyof TapWords>(kind: K, tap: number, words: TapWords[K]): void {
    this.#add(JSON.stringify({ kind, tap, ...words }))
  }

  /** The batch to send; its buffer is transferred. */
  seal(): SealedBatch {
    return { bytes: this.#buffer.buffer as ArrayBuffer, items: `[${this.#items.join()}]` }
  }

  #add(item: string): void {
    this.#items.push(item)
    this.#itemsLength += item.length
  }
}

/** The events of a batch, in order. Data are views of `bytes`. */
export function* tapItems({ bytes, items }: SealedBatch): Generator<TapItem> {
  let at = 0
  for (const item of JSON.parse(items)) {
    if (item.kind === 'requestData' || item.kind === 'answerData') {
      item.data = Buffer.from(bytes, at, item.data)
      at += item.data.length
    }
    yield item
  }
}
