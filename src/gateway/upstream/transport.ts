import type { Failure } from '../../call/failure.ts'
import type { RawHeaders } from '../../call/response-head.ts'
import type { Dispatcher } from 'undici'
import type { Connection } from './undici-transport.ts'
import type { UpstreamProxy } from './upstream-proxy.ts'

/** The options of a transport. */
export interface TransportOptions {
  /** Time limit until the socket is ready, TLS included. */
  readonly connectTimeoutMs: number
  /** Most bytes of a response's headers. */
  readonly maxHeaderBytes: number
  /** Longest wait for the first byte of the answer, in ms; 0 = no limit. */
  readonly firstByteTimeoutMs: number
  /** Longest pause between two pieces of the answer, in ms, while the client takes them; 0 = no limit. */
  readonly idleTimeoutMs: number
  /** Time for which a refused connection is tried again; 0 for no retry. */
  readonly connectRetryMs: number
  /** The failure of every attempt if the proxy's address is wrong; null without a proxy. */
  readonly proxy: UpstreamProxy | Failure | null
}

/** The request of one attempt. */
export interface TransportRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly path: string
  /** End-to-end headers in order, without framing and hop-by-hop headers. */
  readonly headers: RawHeaders
  /** The body: a list of chunks that can be sent again, a stream that can be read once, or null. */
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array> | null
  /** Bytes of the body; `null` if known only at its end. */
  readonly bodyBytes: number | null
  /** True to use a new connection, because the last attempt may have met a dead one. */
  readonly freshConnection: boolean
}

/** True if the body is complete and can be sent again. */
export function isHeld(body: TransportRequest['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

type UndiciVerb = 'onConnect' | 'onHeaders' | 'onData' | 'onComplete' | 'onError'

/** An attempt as undici sees it. undici calls its methods synchronously, in the turn in which the bytes arrived. */
export interface TransportAttempt extends Required<Pick<Dispatcher.DispatchHandler, UndiciVerb>> {
  /** True once the attempt has ended. */
  readonly isOver: boolean
  /** Set by the transport before undici's first callback. */
  connection: Connection | null
}

/** Sends attempts to an upstream. Each attempt is one HTTP exchange; nothing is buffered, decoded or repeated. */
export interface Transport {
  readonly options: TransportOptions
  /** The proxy that forwards plain HTTP requests, and may answer itself; null if answers come from the upstream. */
  readonly answeringProxy: UpstreamProxy | null
  /** Sends a request on a connection, and reports to the attempt through undici's methods. Never throws. */
  send(request: TransportRequest, attempt: TransportAttempt): void
  /** Closes every connection; attempts under way fail. */
  close(): Promise<void>
}
