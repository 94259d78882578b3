import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorBody } from '../../api/error-body.ts'
import type { CodedError } from '../../lib/errors.ts'
import { STATUS_CODES } from '../../lib/http/http.ts'
import { closeAfterReading, lingerAfter } from '../../lib/http/linger.ts'
import { type ErrorCode, RequestError, errorStatuses } from './request-error.ts'
import { safetyHeaders } from './safety-headers.ts'

/** The content type of JSON. */
export const json = 'application/json; charset=utf-8'
/** Seconds after which a request may be repeated (`Retry-After`), by error code. */
const retryAfterS: Readonly<Record<string, number>> = {
  closing: 2,
  too_many_readers: 10,
  query_interrupted: 1,
}
/** The same for every code that ends in `_busy`. */
const busyRetryAfterS = 1

/** Status, headers and body of an error's answer. Every error has this shape. */
export function errorParts(error: CodedError): {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
  const { code, message, param, log, data, headers } = error
  const more = { ...(log.length > 0 && { log }), ...(data !== null && { data }) }
  const content: ErrorBody = { error: { code, message, param, ...more } }
  const body = JSON.stringify(content)
  const seconds = code.endsWith('_busy') ? busyRetryAfterS : retryAfterS[code]
  const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  return {
    status: error.status ?? errorStatuses[code as ErrorCode],
    headers: {
      ...retry,
      ...headers,
      'Content-Type': json,
      'Content-Length': String(Buffer.byteLength(body)),
    },
    body,
  }
}

/** Answers a refused request with its error. */
export function refuse(req: IncomingMessage, res: ServerResponse, error: CodedError): void {
  leaveBody(req, res)
  const { status, headers, body } = errorParts(error)
  res.writeHead(status, headers).end(body)
}

/**
 * Ends the connection with the answer if the request's body is incomplete. Otherwise Node would read and
 * discard a body of any length.
 */
export function leaveBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete || !hasBody(req)) return
  res.shouldKeepAlive = false
  lingerAfter(res)
}

/** Answers input that Node's parser refused. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // If a response has begun, the client would read an error as the rest of it.
  const isAnswering = '_httpMessage' in socket && socket._httpMessage !== null
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const [code, message] = malformed[error.code ?? ''] ?? notHttp
  const { status, headers, body } = errorParts(new RequestError(code, message))
  const lines = Object.entries({ ...Object.fromEntries(safetyHeaders), ...headers, Connection: 'close' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`)
  closeAfterReading(socket)
}

const malformed: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request head is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
}
const notHttp = ['invalid_request', 'The request is not well-formed HTTP/1.1.'] as const

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
