import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse } from 'node:http'
import { Server as SocketServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Failure } from '../call/failure.ts'
import { HeaderNames } from '../lib/header-list.ts'
import { RecentMap } from '../lib/recent-map.ts'
import { isAllowedHost } from '../lib/request-source.ts'
import { narrowAcceptEncoding } from './accept-encoding.ts'
import { asFailure, errorAnswer, writeErrorAnswer } from './error-answer.ts'
import type { CallHandler } from './handle-call.ts'
import type { Health } from './health.ts'
import { maxHeaderBytes } from './listen.ts'
import { endReading } from './request-body.ts'
import { type RequestHead, readRequestHead } from './request-head.ts'
import { type Target, forwardedPath, parseTarget } from './target.ts'

export interface GatewayServerOptions {
  readonly calls: CallHandler
  readonly health: Health
  /** Names besides loopback and addresses under which own routes answer. */
  readonly allowedHosts: readonly string[]
}

/** The gateway's HTTP side: tells own routes from forwarded paths, and refuses what is neither. */
export class GatewayServer {
  readonly #options: GatewayServerOptions
  readonly #server: Server
  readonly #names = new HeaderNames()
  readonly #acceptEncodings = new RecentMap(narrowAcceptEncoding)
  readonly #narrow = (value: string): string => this.#acceptEncodings.get(value)
  #draining = false

  /** Takes over a listener that has answered nobody yet. */
  constructor(listener: Server, options: GatewayServerOptions) {
    this.#options = options
    this.#server = listener
    this.#server.on('request', (req: IncomingMessage, res: ServerResponse) => this.#onRequest(req, res))
    // An expectation that is not known may be ignored (RFC 9110 §10.1.1); Node's own answer would be a bare 417.
    this.#server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      this.#onRequest(req, res)
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      refuseMalformed(error, socket)
    })
    this.#server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
      writeRaw(socket, new Failure('method_not_allowed', 'This is no proxy for CONNECT.'))
    })
  }

  /**
   * Accepts no more connections, and answers 503 on those that are open. Resolves when the calls in flight are
   * over; idle connections are kept until then, so that a request that is just on its way gets an answer.
   */
  async drain(): Promise<void> {
    this.#draining = true
    this.#stopListening()
    await this.#options.calls.drain()
    this.#server.closeIdleConnections()
  }

  /** Gives up the calls in flight. Resolves when all are over. */
  async abandon(): Promise<void> {
    this.#options.calls.abandon()
    await this.#options.calls.drain()
  }

  /** Breaks what is still open. */
  close(): void {
    this.#stopListening()
    this.#server.closeAllConnections()
  }

  /** `http.Server.close` would break idle connections too; the socket server's own does not. */
  #stopListening(): void {
    SocketServer.prototype.close.call(this.#server)
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    if (res.socket === null) {
      // Pipelined behind an unfinished answer: its turn comes with the connection (RFC 9112 §9.3.2).
      res.once('socket', () => this.#onRequest(req, res))
      return
    }
    try {
      this.#route(req, res)
    } catch (error) {
      writeErrorAnswer(res, asFailure(error), null)
    }
  }

  #route(req: IncomingMessage, res: ServerResponse): void {
    if (this.#draining) res.shouldKeepAlive = false
    const head = readRequestHead(req.rawHeaders, this.#names, this.#narrow, req.httpVersion)
    if (req.method === 'TRACE') throw new Failure('method_not_allowed', 'TRACE is not answered here.')
    if (req.url === '*' && req.method === 'OPTIONS') {
      res.writeHead(204, { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' }).end()
      return
    }
    const target = parseTarget(req.url ?? '')
    const path = forwardedPath(target.path)
    if (path === null) this.#ownRoute(req, res, head, target)
    else void this.#options.calls.handle({ req, res, head, target, path })
  }

  #ownRoute(req: IncomingMessage, res: ServerResponse, head: RequestHead, target: Target): void {
    if (head.flaw !== null) throw new Failure('invalid_request', head.flaw)
    if (target.path !== '/' && target.path !== '/health') {
      throw new Failure('not_found', `Nothing is answered under ${target.path}; calls go to /v1/…`)
    }
    if (head.host !== null && !isAllowedHost(head.host, this.#options.allowedHosts)) {
      throw new Failure(
        'forbidden',
        `This route is not answered under the name ${head.host}; --allow-host ${head.host} allows it.`,
      )
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new Failure('method_not_allowed', `${target.path} takes GET.`)
    }
    const report = this.#options.health.report(this.#draining)
    const body = JSON.stringify(report)
    res.writeHead(this.#draining ? 503 : 200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
    })
    res.end(body)
  }
}

/** What Node's parser refuses never becomes a request; it is answered in the same shape all the same. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answer = answerOn(socket)
  if (answer === null) writeRaw(socket, malformed(error.code))
  else if (answer.writableEnded) socket.destroySoon()
  // The client ended its side in the middle of its request: it has left.
  else if (error.code === 'HPE_INVALID_EOF_STATE') socket.destroy()
  // Another answer would be taken for the body, or the answer, of the call that is still under way.
  else if (answer.headersSent || !endReading(answer.req, malformed(error.code))) socket.resetAndDestroy()
}

/** The answer that is under way on a connection. */
function answerOn(socket: Socket): ServerResponse | null {
  return '_httpMessage' in socket ? (socket._httpMessage as ServerResponse | null) : null
}

function malformed(code: string | undefined): Failure {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('invalid_request', `The request head is larger than ${maxHeaderBytes / 1024} KiB.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('invalid_request', 'The request head did not arrive in time.')
    default:
      return new Failure('invalid_request', 'The request is not well-formed HTTP/1.1.')
  }
}

function writeRaw(socket: Duplex, failure: Failure): void {
  const { status, headers, body } = errorAnswer(failure, null)
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, 'Connection: close']
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
