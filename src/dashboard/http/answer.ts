import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable, pipeline } from 'node:stream'
import type { ErrorBody } from '../../api/error-body.ts'
import type { CodedError } from '../../lib/errors.ts'
import { STATUS_CODES } from '../../lib/http.ts'
import { closeAfterReading, lingerAfter } from '../../lib/linger.ts'
import { type ErrorCode, RequestError, errorStatuses } from './request-error.ts'
import { safetyHeaders } from './safety-headers.ts'

const json = 'application/json; charset=utf-8'
/** After how many seconds it may be asked again. */
const retryAfterS: Readonly<Record<string, number>> = {
  closing: 2,
  too_many_readers: 10,
  prices_busy: 1,
  clients_busy: 1,
  notes_busy: 1,
  alerts_busy: 1,
  upstreams_busy: 1,
  query_interrupted: 1,
  too_busy: 1,
}

/** An answer to a request. A stream is sent as it comes, and ended with the connection that it goes to. */
export class Answer<Body extends Buffer | Readable | null = Buffer | Readable | null> {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body

  constructor(body: Body, headers: Readonly<Record<string, string>> = {}, status = 200) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export function jsonAnswer(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer<Buffer> {
  return new Answer(Buffer.from(JSON.stringify(value)), { ...headers, 'Content-Type': json }, status)
}

export function errorAnswer(error: CodedError): Answer<Buffer> {
  const { code, message, param, log, data, headers } = error
  const more = { ...(log.length > 0 && { log }), ...(data !== null && { data }) }
  const body: ErrorBody = { error: { code, message, param, ...more } }
  const seconds = retryAfterS[code]
  const retry = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  return jsonAnswer(body, error.status ?? errorStatuses[code as ErrorCode], { ...retry, ...headers })
}

/** Sends an answer to a request, without its body to HEAD. */
export function send(req: IncomingMessage, res: ServerResponse, { status, headers, body }: Answer): void {
  // Otherwise Node would read, and throw away, however large a body follows.
  if (!req.complete && hasBody(req)) {
    res.shouldKeepAlive = false
    lingerAfter(res)
  }
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (Buffer.isBuffer(body)) res.setHeader('Content-Length', body.length)
  if (!(body instanceof Readable)) res.end(body ?? undefined)
  else if (req.method === 'HEAD') {
    body.destroy()
    res.end()
  } else {
    // The connection breaks if the stream does, and the stream if the reader leaves.
    pipeline(body, res, () => {})
  }
}

/** Answers what Node's parser refused, which never became a request. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // In the middle of an answer, another one would be taken for its rest.
  const isAnswering = '_httpMessage' in socket && socket._httpMessage !== null
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const [code, message] = malformed[error.code ?? ''] ?? notHttp
  const { status, headers, body } = errorAnswer(new RequestError(code, message))
  const own = { Connection: 'close', 'Content-Length': body.length }
  const lines = Object.entries({ ...Object.fromEntries(safetyHeaders), ...headers, ...own })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body.toString()}`)
  closeAfterReading(socket)
}

const malformed: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The head of the request is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
}
const notHttp = ['invalid_request', 'The request is not well-formed HTTP/1.1.'] as const

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
