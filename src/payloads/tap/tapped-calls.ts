import { ByteGather } from '../../lib/byte-gather.ts'
import type { RawAnswer, RawBody, RawRequest } from '../record/raw-payload.ts'
import type { TapBegin, TapEnd, TapItem, TapRequestEnd } from './tap-batch.ts'
import type { RawHeaders } from '../../call/call-observer.ts'

/** Told of each call when one of its records is whole. `call` is the same object each time. */
export interface TappedCallListener {
  started(call: TappedCall): void
  request(call: TappedCall, request: RawRequest): void
  answer(call: TappedCall, answer: RawAnswer): void
}

/** A call that has not ended. */
export interface TappedCall {
  readonly begin: TapBegin
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
  isStream: boolean
  model: string | null
  stream: boolean
  status: number | null
  headers: RawHeaders
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
        call.model = item.model
        call.stream = item.stream
        this.#listener.request(call, requestOf(call, item))
        if (call.held === null) this.#forget(call, call.requestBody)
        break
      case 'answerHead':
        call.status = item.status
        call.headers = item.headers
        call.isStream = isEventStream(item.headers)
        break
      case 'answerData':
        this.#gather(call, call.answerBody, item.data)
        if (call.isStream && !Number.isNaN(item.offsetMs) && call.offsets.length < offsetLimit) {
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

  #begin(tap: number, begin: TapBegin): void {
    const call: OpenCall = {
      begin,
      held: null,
      requestBody: new ByteGather(),
      answerBody: new ByteGather(),
      offsets: [],
      isStream: false,
      model: null,
      stream: false,
      status: null,
      headers: [],
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

function requestOf(call: OpenCall, end: TapRequestEnd): RawRequest {
  const { callId, method, path, headers } = call.begin
  const { wallTimeMs, model, stream } = end
  return { callId, wallTimeMs, method, path, headers, body: bodyOf(call.requestBody, end), model, stream }
}

function answerOf(call: OpenCall, end: TapEnd): RawAnswer {
  const { callId, method, path } = call.begin
  const { wallTimeMs, outcome, failureCode, durationMs } = end
  return {
    callId,
    wallTimeMs,
    method,
    path,
    headers: call.headers,
    body: bodyOf(call.answerBody, end),
    model: call.model,
    stream: call.stream,
    status: call.status,
    outcome,
    failureCode,
    durationMs,
    chunkOffsetsMs: call.offsets,
  }
}

function bodyOf(gather: ByteGather, { totalBytes, truncated }: TapRequestEnd | TapEnd): RawBody {
  const pieces = gather.length === 0 ? [] : [gather.bytes.subarray(0, gather.length)]
  return { pieces, totalBytes, truncated }
}

function isEventStream(headers: RawHeaders): boolean {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type')
  return at >= 0 && (headers[at + 1] ?? '').toLowerCase().includes('text/event-stream')
}
