import { ByteGather } from '../../lib/byte-gather.ts'
import { headerOf } from '../../lib/header-list.ts'
import type { RawAnswer, RawBody, RawRequest } from '../record/raw-payload.ts'
import type { TapItem, TapWords } from './tap-batch.ts'

/** Told of each call when one of its records is whole. `call` is the same object each time. */
export interface TappedCallListener {
  started(call: TappedCall): void
  request(call: TappedCall, request: RawRequest): void
  answer(call: TappedCall, answer: RawAnswer): void
}

/** A call that has not ended. */
export interface TappedCall {
  readonly begin: TapWords['begin']
  /** Of the listener: what it keeps of the call until it ends. */
  held: HeldRequest | null
}

/** The request of a call, kept until it is known whether the file gets it. */
export interface HeldRequest {
  readonly raw: RawRequest
  /** Where the feed had it already. */
  readonly seq: number | null
}

interface OpenCall extends TappedCall {
  readonly requestBody: ByteGather
  readonly answerBody: ByteGather
  offsets: number[]
  /** What the request's end told of it. */
  asked: Pick<RawRequest, 'model' | 'stream'>
  head: Pick<RawAnswer, 'status' | 'headers'>
  isEventStream: boolean
  bytes: number
}

const offsetLimit = 10_000
/** Of the objects of a call, beside its bodies and texts. */
const callBytes = 2048

/** Puts records together from what taps saw. */
export class TappedCalls {
  readonly #calls = new Map<number, OpenCall>()
  readonly #listener: TappedCallListener
  #heldBytes = 0

  constructor(listener: TappedCallListener) {
    this.#listener = listener
  }

  /** Memory of calls that have not ended. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  take(item: TapItem): void {
    if (item.kind === 'begin') {
      this.#begin(item.tap, item)
      return
    }
    const call = this.#calls.get(item.tap)
    if (call === undefined) return
    switch (item.kind) {
      case 'requestData':
        this.#gather(call, call.requestBody, item.data)
        break
      case 'requestEnd':
        call.asked = { model: item.model, stream: item.stream }
        this.#listener.request(call, requestOf(call, item))
        if (call.held === null) this.#forget(call, call.requestBody)
        break
      case 'answerHead':
        call.head = { status: item.status, headers: item.headers }
        call.isEventStream = isEventStream(item.headers)
        break
      case 'answerData':
        this.#gather(call, call.answerBody, item.data)
        if (call.isEventStream && !Number.isNaN(item.offsetMs) && call.offsets.length < offsetLimit) {
          call.offsets.push(item.offsetMs)
          this.#count(call, 8)
        }
        break
      case 'ended':
        this.#calls.delete(item.tap)
        this.#heldBytes -= call.bytes
        this.#listener.answer(call, answerOf(call, item))
        break
    }
  }

  #begin(tap: number, begin: TappedCall['begin']): void {
    const call: OpenCall = {
      begin,
      held: null,
      requestBody: new ByteGather(),
      answerBody: new ByteGather(),
      offsets: [],
      asked: { model: null, stream: false },
      head: { status: null, headers: [] },
      isEventStream: false,
      bytes: 0,
    }
    this.#calls.set(tap, call)
    this.#count(call, callBytes)
    this.#listener.started(call)
  }

  #gather(call: OpenCall, body: ByteGather, data: Buffer): void {
    if (data.length === 0) return
    const before = body.length === 0 ? 0 : body.bytes.length
    body.append(data, 0, data.length)
    this.#count(call, body.bytes.length - before)
  }

  #forget(call: OpenCall, body: ByteGather): void {
    if (body.length > 0) this.#count(call, -body.bytes.length)
    body.release()
  }

  #count(call: OpenCall, bytes: number): void {
    call.bytes += bytes
    this.#heldBytes += bytes
  }
}

function requestOf(call: OpenCall, end: TapWords['requestEnd']): RawRequest {
  const { callId, method, path, headers } = call.begin
  const { wallTimeMs } = end
  return { callId, wallTimeMs, method, path, headers, body: bodyOf(call.requestBody, end), ...call.asked }
}

function answerOf(call: OpenCall, end: TapWords['ended']): RawAnswer {
  const { callId, method, path } = call.begin
  const { wallTimeMs, outcome, failureCode, durationMs } = end
  const body = bodyOf(call.answerBody, end)
  const told = { wallTimeMs, body, outcome, failureCode, durationMs, chunkOffsetsMs: call.offsets }
  return { callId, method, path, ...call.asked, ...call.head, ...told }
}

function bodyOf(gather: ByteGather, end: TapWords['requestEnd' | 'ended']): RawBody {
  const { totalBytes, truncated } = end
  return { bytes: gather.bytes.subarray(0, gather.length), totalBytes, truncated }
}

function isEventStream(headers: RawAnswer['headers']): boolean {
  return (headerOf(headers, 'content-type') ?? '').toLowerCase().includes('text/event-stream')
}
