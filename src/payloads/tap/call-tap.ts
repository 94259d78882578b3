import type { RawHeaders } from '../../call/call-observer.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { PayloadCall, PayloadTap } from '../../call/payload-log.ts'
import type { TapBatch, TapWords } from './tap-batch.ts'

/** Where taps put what they see. */
export interface TapPost {
  readonly maxBodyBytes: number
  /** The batch to add to: another one when `next` was called. Null where that thread is gone, with all that it held. */
  batchOf(generation: number): TapBatch | null
  /** The batch is full. */
  next(): void
  /** Something was added. */
  added(): void
  /** Whether so many more bytes of a body may be held. */
  hasRoom(bytes: number): boolean
  /** A record became whole. */
  ended(): void
  /** So many records of a call are lost with its thread. */
  lost(records: number): void
  wallTime(): number
}

/** Offsets of one stream that are told; as many as a record has. */
const offsetLimit = 10_000

/** Copies what passes in one call into batches. */
export class CallTap implements PayloadTap {
  readonly #post: TapPost
  readonly #tap: number
  readonly #generation: number
  readonly #receivedAtMs: number
  #requestBytes = 0
  #requestKept = 0
  #answerBytes = 0
  #answerKept = 0
  #offsets = 0
  #isRequestCut = false
  #isAnswerCut = false
  #isRequestOver = false

  constructor(post: TapPost, tap: number, generation: number, call: PayloadCall) {
    this.#post = post
    this.#tap = tap
    this.#generation = generation
    this.#receivedAtMs = call.receivedAtMs
    const { path, headers } = call
    const { id: callId, method } = call.call
    this.#addWords('begin', { callId, wallTimeMs: post.wallTime(), method, path, headers })
  }

  requestData(chunk: Uint8Array): void {
    this.#requestBytes += chunk.length
    if (this.#isRequestCut) return
    const room = this.#room(chunk.length, this.#requestKept)
    this.#isRequestCut = room < chunk.length
    this.#requestKept += room
    if (room > 0) this.#addData('requestData', room < chunk.length ? chunk.subarray(0, room) : chunk, 0)
  }

  requestEnd(model: string | null, stream: boolean): void {
    if (this.#isRequestOver) return
    this.#isRequestOver = true
    if (this.#isLost()) return
    const wallTimeMs = this.#post.wallTime()
    const [totalBytes, truncated] = [this.#requestBytes, this.#isRequestCut]
    this.#addWords('requestEnd', { wallTimeMs, totalBytes, truncated, model, stream })
    this.#post.ended()
  }

  answerHead(status: number, headers: RawHeaders): void {
    this.#addWords('answerHead', { status, headers })
  }

  answerData(chunk: Uint8Array, atMs: number): void {
    this.#answerBytes += chunk.length
    const room = this.#isAnswerCut ? 0 : this.#room(chunk.length, this.#answerKept)
    this.#isAnswerCut ||= room < chunk.length
    this.#answerKept += room
    if (room === 0 && this.#offsets >= offsetLimit) return
    this.#offsets++
    this.#addData(
      'answerData',
      room < chunk.length ? chunk.subarray(0, room) : chunk,
      atMs - this.#receivedAtMs,
    )
  }

  ended(record: CallRecord): void {
    this.requestEnd(record.model, record.stream)
    if (this.#isLost()) return
    const { outcome, failureCode, durationMs } = record
    const wallTimeMs = this.#post.wallTime()
    const [totalBytes, truncated] = [this.#answerBytes, this.#isAnswerCut]
    this.#addWords('ended', { wallTimeMs, totalBytes, truncated, outcome, failureCode, durationMs })
    this.#post.ended()
  }

  /** Whether a record is lost with its thread. */
  #isLost(): boolean {
    if (this.#post.batchOf(this.#generation) !== null) return false
    this.#post.lost(1)
    return true
  }

  /** How much of so many more bytes is copied, when `kept` were. */
  #room(bytes: number, kept: number): number {
    return this.#post.hasRoom(bytes) ? Math.min(bytes, this.#post.maxBodyBytes - kept) : 0
  }

  #addData(kind: 'requestData' | 'answerData', data: Uint8Array, offsetMs: number): void {
    let start = 0
    for (;;) {
      const batch = this.#post.batchOf(this.#generation)
      if (batch === null) return
      const end = batch.addData(kind, this.#tap, data, start, start === 0 ? offsetMs : Number.NaN)
      if (end === data.length) break
      if (end > 0) start = end
      this.#post.next()
    }
    this.#post.added()
  }

  #addWords<K extends keyof TapWords>(kind: K, words: TapWords[K]): void {
    const batch = this.#post.batchOf(this.#generation)
    if (batch === null) return
    if (!batch.addWords(kind, this.#tap, words)) {
      this.#post.next()
      this.#post.batchOf(this.#generation)?.addWords(kind, this.#tap, words)
    }
    this.#post.added()
  }
}
