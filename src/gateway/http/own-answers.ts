import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Failure } from '../../call/failure.ts'
import { STATUS_CODES } from '../../lib/http/http.ts'
import { lingerAfter } from '../../lib/http/linger.ts'
import type { OwnError } from '../../api/error-body.ts'

/** An answer of the gateway itself, ready to be written. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
}

/**
 * A failure in the shape of an OpenAI error, so that client libraries raise the same exception as for the
 * upstream. The header `x-tokenweir-error` marks answers of the gateway.
 */
export function errorAnswer(failure: Failure, callId: string | null): ErrorAnswer {
  const { message, kind, code } = failure
  const content: OwnError = { error: { message, type: kind.type, param: null, code } }
  const body = JSON.stringify(content)
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'x-tokenweir-error',
    failure.code,
  ]
  if (failure.code === 'method_not_allowed' && !failure.headers.includes('Allow')) {
    headers.push('Allow', 'GET, HEAD')
  }
  if (callId !== null) headers.push('x-tokenweir-call-id', callId)
  if (failure.retryAfterS !== null) headers.push('Retry-After', String(failure.retryAfterS))
  if (failure.shouldRetry !== null) headers.push('x-should-retry', String(failure.shouldRetry))
  headers.push(...failure.headers)
  return { status: failure.kind.status ?? 500, headers, body }
}

/** Answers with a failure if no head was sent yet, and returns the answer. */
export function writeErrorAnswer(res: ServerResponse, failure: Failure, callId: string | null): ErrorAnswer {
  const answer = errorAnswer(failure, callId)
  const { status, body } = answer
  // After a malformed request, the beginning of the next one is unknown.
  const isUnread = closeIfUnread(res)
  const isDeclined = failure.code === 'upgrade_not_supported'
  const isLast = isUnread || isDeclined || failure.code === 'invalid_request'
  const headers = [...answer.headers]
  if (callId !== null) headers.push(...crossOriginHeaders(res.req))
  if (isLast) headers.push('Connection', isDeclined ? 'Upgrade, close' : 'close')
  // The reason phrase is given, because an unwritable one of the upstream would remain.
  res.writeHead(status, STATUS_CODES[status] ?? '', headers)
  res.end(body)
  return { status, headers, body }
}

/**
 * Headers that let the page of another origin read the refusal of a call. The upstream has allowed the call
 * in its answer to the browser's preflight.
 */
function crossOriginHeaders({ headers }: IncomingMessage): readonly string[] {
  const { origin, 'content-type': type = '' } = headers
  if (origin === undefined || !/^application\/json\b/i.test(type)) return []
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...exposedHeaders]
}

/** Extra headers for pages of other origins: the headers of an answer that they may read. */
export const exposedHeaders: readonly string[] = [
  'Access-Control-Expose-Headers',
  'x-tokenweir-call-id, x-tokenweir-error, x-tokenweir-upstream, server-timing',
]

/** Makes the answer end its connection if the request's body is still coming. Call it before the head. True if so. */
export function closeIfUnread(res: ServerResponse): boolean {
  const { req } = res
  // Node makes the headers when they are first read, and most requests are complete.
  if (req.complete) return false
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers
  if (coding === undefined && !(Number(length ?? 0) > 0)) return false
  res.shouldKeepAlive = false
  lingerAfter(res)
  return true
}

/** The failure for an error. An error outside the catalogue is an internal error of the gateway. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure('internal_error', 'The gateway had an internal error.', { cause: error })
}

/** Answers one of the gateway's own routes with JSON. A value of bytes is JSON already. */
export function sendJson(
  res: ServerResponse,
  content: object | Uint8Array,
  status = 200,
  headers: OutgoingHttpHeaders = {},
): void {
  const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content))
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  res.end(body)
}
