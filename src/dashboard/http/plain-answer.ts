import { type IncomingMessage, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RequestProblem } from './request-problem.ts'
import { safetyHeaders } from './safety-headers.ts'

/** Answers a request that no route was asked about. */
export function answerProblem(req: IncomingMessage, res: ServerResponse, problem: RequestProblem): void {
  const body = JSON.stringify(problem.body)
  // Otherwise Node would read, and throw away, however large a body follows.
  if (hasBody(req)) res.shouldKeepAlive = false
  res.writeHead(problem.status, {
    ...problem.headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** Answers what Node's parser refused, which never became a request. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // In the middle of an answer, another one would be taken for its rest.
  const isAnswering = '_httpMessage' in socket && socket._httpMessage !== null
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy()
    return
  }
  const problem = malformed(error.code)
  const body = JSON.stringify(problem.body)
  const headers = [
    ...safetyHeaders,
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines}\r\n${body}`)
}

function malformed(code: string | undefined): RequestProblem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RequestProblem(431, 'headers_too_large', 'The head of the request is too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestProblem(408, 'request_timeout', 'The request did not arrive in time.')
    default:
      return new RequestProblem(400, 'invalid_request', 'The request is not well-formed HTTP/1.1.')
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
