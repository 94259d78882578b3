import { ByteGather } from '../../lib/byte-gather.ts'
import type { RawAnswer, RawRequest } from '../record/raw-payload.ts'
import type { CaptureRule } from './capture-rule.ts'
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
  /** As it was when the call began: both records of a call are kept, or none. */
  readonly capture: CaptureRule
  /** Set by the listener: keeps the request until the file's rule is decided. */
  keepRequest: (() => void) | null
}

interface OpenCall extends TappedCall {
  readonly requestBody: ByteGather
  readonly answerBody: ByteGather
  head: Pick<RawAnswer, 'status' | 'headers'>
  bytes: number
}

/** Bytes of a call's objects, besides bodies and texts. */
const callBytes = 2048

/** Puts records together from what taps saw. */
export class TappedCalls {
  readonly #calls = new Map<number, OpenCall>()
  readonly #listener: TappedCallListener
  #heldBytes = 0
  /** The rule for calls that begin from now on. */
  capture: CaptureRule

  constructor(capture: CaptureRule, listener: TappedCallListener) {
    this.capture = capture
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
        call.requestBody.append(item.data)
        this.#measure(call)
        break
      case 'requestEnd':
        this.#listener.request(call, { ...call.begin, ...item, bytes: call.requestBody.whole })
        if (call.keepRequest === null) call.requestBody.release()
        this.#measure(call)
        break
      case 'answerHead':
        call.head = item
        break
      case 'answerData':
        call.answerBody.append(item.data)
        this.#measure(call)
        break
      case 'ended':
        this.#calls.delete(item.tap)
        this.#heldBytes -= call.bytes
        this.#listener.answer(call, { ...call.begin, ...call.head, ...item, bytes: call.answerBody.whole })
        break
    }
  }

  #begin(tap: number, begin: TappedCall['begin']): void {
    const call: OpenCall = {
      begin,
      capture: this.capture,
      keepRequest: null,
      requestBody: new ByteGather(),
      answerBody: new ByteGather(),
      head: { status: null, headers: [] },
      bytes: 0,
    }
    this.#calls.set(tap, call)
    this.#measure(call)
    this.#listener.started(call)
  }

  #measure(call: OpenCall): void {
    const bytes = callBytes + call.requestBody.capacity + call.answerBody.capacity
    this.#heldBytes += bytes - call.bytes
    call.bytes = bytes
  }
}
