import type { RawHeaders } from '../../call/call-observer.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { PayloadCall, PayloadTap } from '../../call/payload-log.ts'
import type { TapWords } from './tap-batch.ts'
import type { TapSender } from './tap-sender.ts'

/** Offsets of one stream that are told; as many as a record has. */
const offsetLimit = 10_000

/** Copies what passes in one call into batches. */
export class CallTap implements PayloadTap {
  readonly #sender: TapSender
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

  constructor(sender: TapSender, tap: number, generation: number, call: PayloadCall) {
    this.#sender = sender
    this.#tap = tap
    this.#generation = generation
    this.#receivedAtMs = call.receivedAtMs
    const { path, headers } = call
    const { id: callId, method } = call.call
    this.#addWords('begin', { callId, wallTimeMs: sender.wallTime(), method, path, headers })
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
    const wallTimeMs = this.#sender.wallTime()
    const [totalBytes, truncated] = [this.#requestBytes, this.#isRequestCut]
    this.#addWords('requestEnd', { wallTimeMs, totalBytes, truncated, model, stream })
    this.#sender.ended()
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
    const wallTimeMs = this.#sender.wallTime()
    const [totalBytes, truncated] = [this.#answerBytes, this.#isAnswerCut]
    this.#addWords('ended', { wallTimeMs, totalBytes, truncated, outcome, failureCode, durationMs })
    this.#sender.ended()
  }

  /** Whether a record is lost with its thread. */
  #isLost(): boolean {
    if (this.#sender.batchOf(this.#generation) !== null) return false
    this.#sender.lost(1)
    return true
  }

  /** How much of so many more bytes is copied, when `kept` were. */
  #room(bytes: number, kept: number): number {
    return this.#sender.hasRoom(bytes) ? Math.min(bytes, this.#sender.maxBodyBytes - kept) : 0
  }

  #addData(kind: 'requestData' | 'answerData', data: Uint8Array, offsetMs: number): void {
    let start = 0
    for (;;) {
      const batch = this.#sender.batchOf(this.#generation)
      if (batch === null) return
      const end = batch.addData(kind, this.#tap, data, start, start === 0 ? offsetMs : Number.NaN)
      if (end === data.length) break
      if (end > 0) start = end
      this.#sender.flush()
    }
    this.#sender.added()
  }

  #addWords<K extends keyof TapWords>(kind: K, words: TapWords[K]): void {
    const batch = this.#sender.batchOf(this.#generation)
    if (batch === null) return
    if (!batch.addWords(kind, this.#tap, words)) {
      this.#sender.flush()
      this.#sender.batchOf(this.#generation)?.addWords(kind, this.#tap, words)
    }
    this.#sender.added()
  }
}
