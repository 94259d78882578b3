import type { RawHeaders } from '../../call/response-head.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { PayloadCall, PayloadTap } from '../../call/payload-log.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import type { TapSender } from './tap-sender.ts'

/** Offsets of one stream that are told. */
const offsetLimit = 10_000
const offsetBytes = 8

interface CopiedBody {
  totalBytes: number
  copiedBytes: number
  truncated: boolean
}

/** Copies what passes in one call into batches. */
export class CallTap implements PayloadTap {
  readonly #sender: TapSender
  readonly #tap: number
  readonly #receivedAtMs: number
  readonly #request: CopiedBody = { totalBytes: 0, copiedBytes: 0, truncated: false }
  readonly #answer: CopiedBody = { totalBytes: 0, copiedBytes: 0, truncated: false }
  #isRequestOver = false
  #isEventStream = false
  readonly #offsetsMs: number[] = []

  constructor(sender: TapSender, tap: number, { call, path, headers, receivedAtMs }: PayloadCall) {
    this.#sender = sender
    this.#tap = tap
    this.#receivedAtMs = receivedAtMs
    const { id: callId, method } = call
    sender.addWords('begin', tap, { callId, wallTimeMs: sender.wallTime(), method, path, headers })
  }

  requestData(chunk: Uint8Array): void {
    if (!this.#isRequestOver) this.#copy('requestData', this.#request, chunk)
  }

  requestEnd(model: string | null, stream: boolean): void {
    if (this.#isRequestOver) return
    this.#isRequestOver = true
    const { totalBytes, truncated } = this.#request
    const wallTimeMs = this.#sender.wallTime()
    this.#sender.endRecord('requestEnd', this.#tap, { wallTimeMs, totalBytes, truncated, model, stream })
  }

  answerHead(status: number, headers: RawHeaders): void {
    this.#isEventStream =
      headerOf(headers, 'content-type')?.toLowerCase().includes('text/event-stream') === true
    this.#sender.addWords('answerHead', this.#tap, { status, headers })
  }

  answerData(chunk: Uint8Array, atMs: number): void {
    this.#copy('answerData', this.#answer, chunk)
    if (!this.#isEventStream || this.#offsetsMs.length === offsetLimit) return
    this.#offsetsMs.push(atMs - this.#receivedAtMs)
    this.#sender.hold(offsetBytes)
  }

  ended({ model, stream, outcome, failureCode, durationMs }: CallRecord): void {
    this.requestEnd(model, stream)
    const { totalBytes, truncated } = this.#answer
    const wallTimeMs = this.#sender.wallTime()
    const chunkOffsetsMs = this.#offsetsMs
    const body = { wallTimeMs, totalBytes, truncated, model, stream }
    const ending = { ...body, outcome, failureCode, durationMs, chunkOffsetsMs }
    this.#sender.endRecord('ended', this.#tap, ending)
    this.#sender.hold(-offsetBytes * chunkOffsetsMs.length)
  }

  #copy(kind: 'requestData' | 'answerData', body: CopiedBody, chunk: Uint8Array): void {
    body.totalBytes += chunk.length
    if (body.truncated) return
    const bytes = this.#sender.roomFor(chunk.length, body.copiedBytes)
    body.truncated = bytes < chunk.length
    body.copiedBytes += bytes
    this.#sender.addData(kind, this.#tap, body.truncated ? chunk.subarray(0, bytes) : chunk)
  }
}
