import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../call/failure.ts'
import { errorAnswer } from './own-answers.ts'
import { maxHeaderBytes, maxHeaderFields } from './listen.ts'
import { endReading } from './request-body.ts'
import { STATUS_CODES } from '../../lib/http/http.ts'
import { closeAfterReading } from '../../lib/http/linger.ts'
import { headerPairs } from '../../lib/http/header-list.ts'

/** Connections whose refusal waits for earlier answers. */
const waiting = new WeakSet<Socket>()

/**
 * Answers input that Node's parser refuses, in the shape of all other answers, and ends the connection.
 * `error` comes from the server's event `clientError`.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // A connection that was passed on here has no request that could be answered.
  const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
  if (error.code === 'ECONNRESET' || !socket.writable || isUnused) {
    socket.destroy()
    return
  }
  const answer = answerOn(socket)
  if (answer === null) writeRefusal(socket, malformed(error.code))
  // The client has left in the middle of its request.
  else if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroy()
  else if (answer.req.complete) refuseBehind(answer, socket, malformed(error.code))
  // The answer is complete, and must arrive.
  else if (answer.writableEnded) closeAfterReading(socket)
  // The client would read another answer as part of the call in progress.
  else if (answer.headersSent) socket.resetAndDestroy()
  else {
    endReading(answer.req, malformed(error.code))
    // The beginning of the next request is unknown.
    answer.once('close', () => socket.destroy())
  }
}

/**
 * Refuses behind earlier requests, which get their answers first (RFC 9112 §9.3.2). If one of these answers
 * closes the connection, as after `Connection: close`, no refusal is sent.
 */
function refuseBehind(answer: ServerResponse, socket: Socket, failure: Failure): void {
  if (waiting.has(socket)) return
  waiting.add(socket)
  const onClose = (): void => {
    const next = answerOn(socket)
    if (next !== null) next.once('close', onClose)
    else if (socket.writable) writeRefusal(socket, failure)
  }
  answer.once('close', onClose)
}

/**
 * Refuses a request for a tunnel (`CONNECT`), for which Node hands over the connection. Earlier calls get
 * their answers.
 */
export function refuseTunnel(socket: Socket): void {
  const failure = new Failure('method_not_allowed', 'The gateway is not a proxy: CONNECT is not supported.')
  const answer = answerOn(socket)
  if (answer === null) {
    writeRefusal(socket, failure)
    return
  }
  // Without this listener nothing would notice that the client leaves.
  socket.once('end', () => socket.destroy()).resume()
  refuseBehind(answer, socket, failure)
}

/** Refuses on a connection that has no request to answer, and ends it. */
function writeRefusal(socket: Socket, failure: Failure): void {
  const { status, headers, body } = errorAnswer(failure, null)
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'Connection: close']
  for (const [name, value] of headerPairs(headers)) lines.push(`${name}: ${value}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  closeAfterReading(socket)
}

/** The answer that is under way on a connection. */
export function answerOn(socket: Socket): ServerResponse | null {
  return '_httpMessage' in socket ? (socket._httpMessage as ServerResponse | null) : null
}

function malformed(code: string | undefined): Failure {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      // Node's parser does not say which of the two limits was exceeded.
      return new Failure(
        'invalid_request',
        `The request head is larger than ${maxHeaderBytes / 1024} KiB, or has more than ${maxHeaderFields} fields.`,
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('invalid_request', 'The request head did not arrive in time.')
    default:
      return new Failure('invalid_request', 'The request is not well-formed HTTP/1.1.')
  }
}
