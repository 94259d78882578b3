import type { RawHeaders, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'

/** What one attempt asks of the upstream. */
export interface UpstreamRequest {
  readonly method: string
  /** Path and query as they go on the wire. */
  readonly path: string
  /** End-to-end headers in order; neither framing nor hop-by-hop ones. */
  readonly headers: RawHeaders
  /** Whole and repeatable as a list of chunks, or to be read once as it comes, or nothing. */
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array> | null
  /** Length of the body in bytes; `null` where it is only known at its end. */
  readonly bodyBytes: number | null
  /** Not to be sent on a connection that was used before, as the last attempt may have met a dead one. */
  readonly freshConnection: boolean
}

/** The body is whole, and can be sent again. */
export function isHeld(body: UpstreamRequest['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

/**
 * Takes an attempt's answer as it comes. All verbs are called synchronously, in the turn in which the bytes
 * arrived: `started` and `head` at most once, then `data`, and at last either `end` or `failed`.
 */
export interface AnswerReceiver {
  /** A connection is ready and the request goes out on it. */
  started(): void
  /** An informational answer (1xx) before the answer proper. */
  informational(head: ResponseHead): void
  head(head: ResponseHead): void
  /** Answers false to be sent nothing more until {@link Exchange.resume}. */
  data(chunk: Uint8Array): boolean
  /** The HTTP message is complete. */
  end(trailers: RawHeaders): void
  /** The attempt is over without a complete message; the failure knows its side. */
  failed(failure: Failure): void
}

/** An attempt under way. */
export interface Exchange {
  /** Ends the attempt at once and closes its connection; the receiver's `failed` gets this failure. */
  abort(failure: Failure): void
  /** After `data` answered false: go on. */
  resume(): void
}

/** The API that calls are forwarded to. One `dispatch` is one attempt: nothing is buffered, decoded or repeated. */
export interface Upstream {
  dispatch(request: UpstreamRequest, receiver: AnswerReceiver): Exchange
  /** Closes every connection; attempts under way fail. */
  close(): Promise<void>
}
