import type { RawHeaders } from '../../call/response-head.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { PayloadCall, PayloadCopy } from '../../call/payload-port.ts'
import { ByteGather, asBuffer } from '../../lib/byte-gather.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import type { RawAnswer, RawBody, RawRequest } from '../record/raw-payload.ts'
import type { Keeping } from './capture-rule.ts'
import type { RecordSender } from './record-sender.ts'

/** Most chunk times of one stream that are recorded. */
const offsetLimit = 10_000
const offsetBytes = 8
/** Approximate memory of a call's objects, without its bodies. */
const callBytes = 2048

/** The beginning of a body, up to the limit. */
class BodyCopy {
  readonly #sender: RecordSender
  readonly #bytes = new ByteGather()
  #totalBytes = 0
  #truncated = false

  constructor(sender: RecordSender) {
    this.#sender = sender
  }

  add(chunk: Uint8Array): void {
    this.#totalBytes += chunk.length
    if (this.#truncated) return
    const room = this.#sender.roomFor(chunk.length, this.#bytes.length)
    this.#truncated = room < chunk.length
    const before = this.#bytes.capacity
    if (room > 0) this.#bytes.append(asBuffer(chunk), 0, room)
    this.#sender.hold(this.#bytes.capacity - before)
  }

  /** Returns the copied body and its memory. Afterwards the copy is empty. */
  release(): { readonly body: RawBody; readonly capacity: number } {
    const { capacity } = this.#bytes
    const bytes = this.#bytes.length === 0 ? noBytes : this.#bytes.content
    this.#sender.hold(-capacity)
    this.#bytes.release()
    return { body: { bytes, totalBytes: this.#totalBytes, truncated: this.#truncated }, capacity }
  }
}

const noBytes = Buffer.alloc(0)

/** Copies the payloads of one call, and sends its two records. */
export class CallCopy implements PayloadCopy {
  readonly #sender: RecordSender
  readonly #keeping: Keeping
  readonly #receivedAtMs: number
  readonly #onFault: (error: unknown) => void
  readonly #begin: Pick<RawRequest, 'callId' | 'method' | 'path' | 'headers'>
  readonly #request: BodyCopy
  readonly #answer: BodyCopy
  #head: Pick<RawAnswer, 'status' | 'headers'> = { status: null, headers: [] }
  #isRequestOver = false
  #isEventStream = false
  #offsetsMs: number[] = []
  /**
   * Bytes of memory until the end of the call, without the bodies, but with a request that the thread holds
   * until then.
   */
  #heldBytes = 0
  #isBroken = false

  constructor(sender: RecordSender, call: PayloadCall, keeping: Keeping) {
    this.#sender = sender
    this.#keeping = keeping
    this.#receivedAtMs = call.receivedAtMs
    this.#onFault = call.onFault
    this.#begin = { callId: call.call.id, method: call.call.method, path: call.path, headers: call.headers }
    this.#request = new BodyCopy(sender)
    this.#answer = new BodyCopy(sender)
    this.#hold(callBytes)
  }

  requestData(chunk: Uint8Array): void {
    this.#guard(() => {
      if (!this.#isRequestOver) this.#request.add(chunk)
    })
  }

  requestEnd(model: string | null, stream: boolean): void {
    this.#guard(() => {
      if (this.#isRequestOver) return
      this.#isRequestOver = true
      const { body, capacity } = this.#request.release()
      const request = { ...this.#begin, ...body, wallTimeMs: this.#sender.wallTime(), model, stream }
      this.#sender.send({ kind: 'request', keeping: this.#keeping, ...request })
      if (this.#keeping === 'if_failed') this.#hold(capacity)
    })
  }

  answerHead(status: number, headers: RawHeaders): void {
    this.#head = { status, headers }
    this.#isEventStream =
      headerOf(headers, 'content-type')?.toLowerCase().includes('text/event-stream') === true
  }

  answerData(chunk: Uint8Array): void {
    this.#guard(() => {
      this.#answer.add(chunk)
      if (!this.#isEventStream || this.#offsetsMs.length === offsetLimit) return
      this.#offsetsMs.push(this.#sender.now() - this.#receivedAtMs)
      this.#hold(offsetBytes)
    })
  }

  ended({ model, stream, outcome, failureCode, durationMs }: CallRecord): void {
    this.requestEnd(model, stream)
    this.#guard(() => {
      const { body } = this.#answer.release()
      const answer = { ...this.#begin, ...this.#head, ...body, wallTimeMs: this.#sender.wallTime() }
      const ending = { model, stream, outcome, failureCode, durationMs, chunkOffsetsMs: this.#offsetsMs }
      this.#sender.send({ kind: 'answer', keeping: this.#keeping, ...answer, ...ending })
    })
    this.#release()
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    this.#sender.hold(bytes)
  }

  #release(): void {
    this.#request.release()
    this.#answer.release()
    this.#hold(-this.#heldBytes)
  }

  /** Runs a step of the copy. An error ends the copy, never the call. */
  #guard(copy: () => void): void {
    if (this.#isBroken) return
    try {
      copy()
    } catch (error) {
      this.#isBroken = true
      this.#release()
      this.#onFault(error)
    }
  }
}
