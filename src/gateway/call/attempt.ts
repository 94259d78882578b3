import type { RawHeaders } from '../../call/call-observer.ts'
import { type HeldBody, streamBody } from '../http/request-body.ts'
import { type UpstreamBase, upstreamPath } from '../http/target.ts'
import type { Upstream, UpstreamRequest } from '../upstream/upstream.ts'
import type { RunningCall } from './running-call.ts'

/** An upstream at which attempts can be made. */
export interface Destination {
  readonly upstream: Upstream
  readonly base: UpstreamBase
  /** The gateway's own credential for it: name and value of a header, or nothing. */
  readonly keyHeader: RawHeaders
  /** Takes the client's credentials out of what it gets; null where they are its to have. */
  readonly withhold: Withhold | null
}

/** Takes credentials out of headers, and out of a query. */
export interface Withhold {
  readonly headers: (headers: RawHeaders) => string[]
  readonly query: (query: string) => string
}

/**
 * One try of a call. What is in it belongs to this try alone, the client's own headers and body apart: the next one may
 * go to another upstream.
 */
export interface Attempt extends UpstreamRequest {
  readonly upstream: Upstream
}

/** The header in which an upstream takes `UPSTREAM_API_KEY`: Anthropic has one of its own. */
export function keyHeader(key: string | null, host: string): RawHeaders {
  if (key === null || key === '') return []
  return host === 'api.anthropic.com' ? ['x-api-key', key] : ['Authorization', `Bearer ${key}`]
}

/** The call's next attempt, at the destination that it has now. `via` is the gateway's own `Via` header, or nothing. */
export function attemptOf(running: RunningCall, body: HeldBody, via: RawHeaders): Attempt {
  const { record, destination, borrowsKey, arrived } = running
  const { req, head, target } = arrived
  const { upstream, base, keyHeader, withhold } = destination
  let bodySent: UpstreamRequest['body'] = null
  let bodyBytes: number | null = 0
  if (running.isReadWhole && head.hasBody) {
    bodySent = body.chunks
    bodyBytes = body.bytes
  } else if (head.hasBody) {
    const see = (piece: Uint8Array): void => running.passedOn(piece)
    bodySent = streamBody(req, see, () => running.requestIsOver())
    bodyBytes = head.contentLength
  }
  const headers = withhold === null ? head.endToEnd : withhold.headers(head.endToEnd)
  const sent = withhold === null ? target : { path: target.path, query: withhold.query(target.query) }
  return {
    upstream,
    method: record.method,
    path: upstreamPath(base, sent),
    headers: borrowsKey ? headers.concat(keyHeader, via) : headers.concat(via),
    body: bodySent,
    bodyBytes,
    // The client's own retry may come of a connection that was dead.
    freshConnection: record.clientRetry !== null && record.clientRetry > 0,
  }
}
