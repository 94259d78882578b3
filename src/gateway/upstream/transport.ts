import type { RawHeaders } from '../../call/response-head.ts'
import type { ConnectionPoolOptions, PooledAttempt } from './connection-pool.ts'
import type { UpstreamProxy } from './upstream-proxy.ts'

export interface TransportOptions extends Omit<ConnectionPoolOptions, 'tunnel'> {
  /** Longest wait for the first byte of the answer, in ms; 0 = no limit. */
  readonly firstByteTimeoutMs: number
  /** Longest pause between two pieces of the answer, in ms, while the client takes them; 0 = no limit. */
  readonly idleTimeoutMs: number
  /** Time for which a refused connection is tried again; 0 for no retry. */
  readonly connectRetryMs: number
  readonly proxy: UpstreamProxy | null
}

/** The request of one attempt. */
export interface TransportRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly path: string
  /** End-to-end headers in order, without framing and hop-by-hop ones. */
  readonly headers: RawHeaders
  /** Whole and repeatable as a list of chunks, or to be read once as it comes, or nothing. */
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array> | null
  /** Length of the body in bytes; `null` where it is only known at its end. */
  readonly bodyBytes: number | null
  /** True to use a new connection, because the last attempt may have met a dead one. */
  readonly freshConnection: boolean
}

/** The body is whole, and can be sent again. */
export function isHeld(body: TransportRequest['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

/** The API that calls are forwarded to. One attempt is one exchange: nothing is buffered, decoded or repeated. */
export interface Transport {
  readonly options: TransportOptions
  /** The proxy that answers in the upstream's place, as for plain HTTP; null where answers are the upstream's own. */
  readonly answeringProxy: UpstreamProxy | null
  /** Puts an attempt on a connection, and reports to it by undici's verbs. Never throws. */
  send(request: TransportRequest, attempt: PooledAttempt): void
  /** Closes every connection; attempts under way fail. */
  close(): Promise<void>
}
