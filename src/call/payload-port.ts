import type { CallRecord } from './call-record.ts'
import type { Call } from './call.ts'
import type { RawHeaders } from './response-head.ts'

/** A call whose payloads may be copied, when its head has been read. */
export interface PayloadCall {
  readonly call: Call
  /** Path and query, byte for byte. */
  readonly path: string
  readonly headers: RawHeaders
  /** Milliseconds of a monotonic clock. */
  readonly receivedAtMs: number
  /** Called with the error that prevents or ends the copy. The call continues. */
  readonly onFault: (error: unknown) => void
}

/**
 * Copies the payloads of one call. The call uses the methods synchronously, in this order. No method throws
 * or keeps a chunk. The answer is the one that the client gets, from the upstream or the gateway. If a
 * request body is forwarded as it arrives, it may end after the answer has begun.
 */
export interface PayloadCopy {
  requestData(chunk: Uint8Array): void
  /**
   * The request is complete, or no more of it comes. Call it without a body, too. Only the first call counts,
   * and `ended` implies it.
   */
  requestEnd(model: string | null, stream: boolean): void
  answerHead(status: number, headers: RawHeaders): void
  /** Body bytes, before any transfer coding. */
  answerData(chunk: Uint8Array): void
  /** The call has its row. Called once, at the end. */
  ended(record: CallRecord): void
}

/** The port for copies of payloads, which never waits and has bounded memory. */
export interface PayloadPort {
  /** False if payloads are neither logged nor watched: a call then skips `begin`, and costs nothing. */
  readonly isOpen: boolean
  /** Null if this call is neither logged nor watched. Never throws. */
  begin(call: PayloadCall): PayloadCopy | null
}

/** An event of the feed: a record, or the start of a call. All readers share its bytes, and must not change them. */
export interface PayloadEvent {
  /** The number of the record; null for the start of a call. */
  readonly seq: number | null
  /** A line of JSON in UTF-8, without its line break. */
  readonly json: Uint8Array
}

/** Gets the feed of payloads, also of calls that the file does not get. */
export interface PayloadListener {
  /** Called with events in order, several at a time under heavy traffic. */
  events(events: readonly PayloadEvent[]): void
  /** Called with the number of records that were left out because there were too many. */
  dropped(count: number): void
}
