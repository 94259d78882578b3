import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from '../../lib/node-http.ts'
import type { Socket } from 'node:net'
import { Readable, pipeline } from 'node:stream'
import { RequestError } from './request-error.ts'
import { safetyHeaders } from './safety-headers.ts'

const json = 'application/json; charset=utf-8'

/** An answer to a request. A stream is sent as it comes, and ended with the connection that it goes to. */
export class Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | Readable | null

  constructor(body: Buffer | Readable | null, headers: Readonly<Record<string, string>> = {}, status = 200) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export function jsonAnswer(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return new Answer(Buffer.from(JSON.stringify(value)), { ...headers, 'Content-Type': json }, status)
}

export function errorAnswer({ body, status, headers }: RequestError): Answer {
  return jsonAnswer(body, status, headers)
}

/** Sends an answer to a request, without its body to HEAD. */
export function send(req: IncomingMessage, res: ServerResponse, { status, headers, body }: Answer): void {
  // Otherwise Node would read, and throw away, however large a body follows.
  if (!req.complete && hasBody(req)) res.shouldKeepAlive = false
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
  const { status, headers, body } = malformed(error.code)
  const text = JSON.stringify(body)
  const own = { Connection: 'close', 'Content-Type': json, 'Content-Length': Buffer.byteLength(text) }
  const lines = Object.entries({ ...Object.fromEntries(safetyHeaders), ...headers, ...own })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${text}`)
}

function malformed(code: string | undefined): RequestError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError('headers_too_large', 'The head of the request is too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError('request_timeout', 'The request did not arrive in time.')
    default:
      return new RequestError('invalid_request', 'The request is not well-formed HTTP/1.1.')
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
