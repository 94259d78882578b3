import type { CallRecord } from './call-record.ts'
import type { Call } from './call.ts'
import type { RawHeaders } from './response-head.ts'

/** A call whose payloads may be of interest, when its head has been read. */
export interface PayloadCall {
  readonly call: Call
  /** Path and query, byte for byte. */
  readonly path: string
  readonly headers: RawHeaders
  /** Monotonic. */
  readonly receivedAtMs: number
}

/**
 * Takes copies of what passes in one call. All verbs are called synchronously on the request's path, in this order,
 * and must neither throw nor keep a chunk. `answerHead` and `answerData` tell what the client is sent, whoever said it.
 * A body that is passed on as it comes may end only after its answer has begun.
 */
export interface PayloadTap {
  requestData(chunk: Uint8Array): void
  /**
   * The request is whole, or no more of it will come; also where there is no body. The first time counts: whoever sees it
   * first says so, and `ended` at the latest.
   */
  requestEnd(model: string | null, stream: boolean): void
  answerHead(status: number, headers: RawHeaders): void
  /** Body bytes, before any transfer coding; `atMs` is monotonic. */
  answerData(chunk: Uint8Array, atMs: number): void
  /** The call has become its row. Once, last. */
  ended(record: CallRecord): void
}

/** The port for copies of payloads. It never throws, never waits, and has bounded memory. */
export interface PayloadTaps {
  /** True if anybody logs or watches: where nobody does, `begin` is not called, and the call costs nothing. */
  readonly isOpen: boolean
  /** Null where this call is of no interest. */
  begin(call: PayloadCall): PayloadTap | null
}

/** An event of the feed: a record, or the start of a call. Its bytes are shared: nobody may change them. */
export interface PayloadEvent {
  /** The record's; null of what is no record, and nobody asks for again. */
  readonly seq: number | null
  /** One line of JSON in UTF-8, without its line break. */
  readonly json: Uint8Array
}

/** Hears what passes, whether the file gets it or not. */
export interface PayloadListener {
  /** In order; several at a time when there is much traffic. */
  events(events: readonly PayloadEvent[]): void
  /** So many records do not come, as there were too many. */
  dropped(count: number): void
}
