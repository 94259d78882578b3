import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { buildConnector } from 'undici'
import { Failure } from '../../call/failure.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { reportFault } from '../../lib/fault.ts'
import { hopByHopHeaders, listTokens, withoutNominated } from '../../lib/http/header-list.ts'
import { ReuseRules } from './reuse-rules.ts'
import {
  type Transport,
  type TransportAttempt,
  type TransportOptions,
  type TransportRequest,
  isHeld,
} from './transport.ts'
import { Client, buildConnector as makeConnector, takeContinue } from './undici.ts'
import { type UpstreamProxy, tunnelConnector } from './upstream-proxy.ts'

/**
 * Without a hint of the upstream, a connection is not reused after this idle time. Common servers of Node and
 * Python close after five seconds, and a request must not meet a closing socket.
 */
const keepAliveMs = 4000
/** Margin below a `Keep-Alive: timeout` hint. */
const keepAliveMarginMs = 1000
const tcpKeepAliveDelayMs = 30_000
/** A dead connection fails within this time after the request. A later end has another reason. */
const deathWithinMs = 1000

/** A connection: an undici client with one socket at a time and at most one attempt. */
export class Connection {
  readonly client: Client
  /** Number of attempts on the present socket; above 1, the socket was reused. */
  attemptsOnSocket = 0
  isOpen = false
  /** When the connection may be reused after an answer (`performance.now()`). */
  restsUntilMs = 0
  /** True if the last answer on the connection had no `Content-Length`. */
  streamed = false
  /** When the last answer ended (`performance.now()`). */
  idleSinceMs = 0
  /** True if part of an answer, and not only framing, has come. Attempts set it. */
  hasProgressed = false
  #isIdle = false
  #sentAtMs = 0
  #socket: Socket | null = null
  /** Bytes read from the socket up to the last part of an answer; -1 before the next check. */
  #progressBytes = -1
  readonly #rules: ReuseRules

  constructor(
    origin: string,
    { maxHeaderBytes }: TransportOptions,
    connect: buildConnector.connector,
    rules: ReuseRules,
  ) {
    this.#rules = rules
    this.client = new Client(origin, {
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: keepAliveMarginMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) =>
        connect(target, (...outcome) => {
          if (outcome[0] === null) this.#adopt(outcome[1], maxHeaderBytes)
          callback(...outcome)
        }),
    })
  }

  /** Call it when a request is being sent. */
  sending(): void {
    this.#isIdle = false
    this.#sentAtMs = performance.now()
    this.hasProgressed = false
    this.#progressBytes = this.#socket?.bytesRead ?? -1
  }

  /** Call it when the answer is complete. `streamed`: the answer had no `Content-Length`. */
  answered(streamed: boolean): void {
    this.#isIdle = true
    this.idleSinceMs = performance.now()
    this.streamed = streamed
  }

  /** Call it when a request on a reused socket got no answer. */
  died(): void {
    const nowMs = performance.now()
    if (nowMs - this.#sentAtMs >= deathWithinMs) return
    this.#rules.died(this.streamed, this.#sentAtMs - this.idleSinceMs, nowMs)
  }

  /** Call it when the socket is gone. The upstream has closed it, unless the error is undici's own (`UND_ERR_INFO`). */
  lost(error: Error): void {
    this.isOpen = false
    if (!this.#isIdle || ('code' in error && error.code === 'UND_ERR_INFO')) return
    this.#rules.closed(this.streamed, performance.now() - this.idleSinceMs)
  }

  #adopt(socket: Socket, maxHeaderBytes: number): void {
    this.attemptsOnSocket = 1
    this.isOpen = true
    this.#isIdle = false
    this.#socket = socket
    socket.once('error', renameReset)
    socket.on('readable', () => this.#boundFraming(socket, maxHeaderBytes))
    this.client.once('connect', () => takeContinue(socket))
  }

  /**
   * Ends a connection whose upstream sends endless bytes without content. Examples are a status line, interim
   * responses, or extensions of chunks; undici limits only names and values of headers. The listener runs before
   * undici reads, and counts the bytes of its earlier reads.
   */
  #boundFraming(socket: Socket, mostBytes: number): void {
    if (this.hasProgressed) {
      this.hasProgressed = false
      this.#progressBytes = -1
      return
    }
    const takenBytes = socket.bytesRead - socket.readableLength
    if (this.#progressBytes < 0) this.#progressBytes = takenBytes
    else if (takenBytes - this.#progressBytes > mostBytes) {
      const message = `The upstream sent ${mostBytes / 1024} KiB that belong to no answer, more than is accepted.`
      socket.destroy(new Failure('upstream_protocol_error', message))
    }
  }
}

/**
 * Changes the code of a reset. undici reads ECONNRESET as the end of an answer if the connection would not be kept.
 * undici does so even if only the connection's end delimits the answer. If the answer is paused at that moment, an
 * assertion fails and ends the process. Under another code a reset is an ordinary error. The listener runs before
 * undici's own.
 */
function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET'
}

/**
 * Sends attempts over HTTP/1.1 with undici, one at a time on each connection. undici's own pool searches all
 * connections for a free one. With thousands of open streams, the search costs more than the call. Here free
 * connections are a stack: the last used one goes first, so that the others can idle out.
 */
export class UndiciTransport implements Transport {
  readonly options: TransportOptions
  readonly answeringProxy: UpstreamProxy | null
  /** Prefix of request targets: the origin if a proxy gets the requests (RFC 9112 §3.2.2), else empty. */
  readonly #pathPrefix: string
  readonly #proxyHeaders: readonly string[]
  readonly #make: () => Connection
  readonly #rules = new ReuseRules()
  readonly #free: Connection[] = []
  /** Connections that may not be reused yet, in the order in which their answers ended. */
  readonly #resting: Connection[] = []
  readonly #all = new Set<Connection>()

  constructor(origin: string, options: TransportOptions) {
    const { connectTimeoutMs } = options
    const proxy = options.proxy instanceof Failure ? null : options.proxy
    const plainProxy = origin.startsWith('http:') ? proxy : null
    this.options = options
    this.answeringProxy = plainProxy
    this.#pathPrefix = plainProxy === null ? '' : origin
    this.#proxyHeaders = plainProxy === null ? [] : proxyHeaders(origin, plainProxy)
    const connect = makeConnector({
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveDelayMs,
    })
    // All connections share one connector and its TLS sessions, so that new ones cost less.
    const isTunnelled = proxy !== null && plainProxy === null
    const connector = isTunnelled ? tunnelConnector(proxy, connect, connectTimeoutMs) : connect
    this.#make = () => new Connection(plainProxy?.origin ?? origin, options, connector, this.#rules)
  }

  /** Connections that are open or being opened. */
  get connections(): number {
    return this.#all.size
  }

  /** Puts an attempt on a free connection, or on a new one. */
  send(request: TransportRequest, attempt: TransportAttempt): void {
    try {
      if (this.options.proxy instanceof Failure) throw this.options.proxy
      const connection = (request.freshConnection ? null : this.#idleConnection()) ?? this.#open()
      connection.attemptsOnSocket++
      attempt.connection = connection
      const options = {
        method: request.method,
        path: this.#pathPrefix + request.path,
        headers: this.#framedHeaders(request),
        body: transportBody(request.body),
        headersTimeout: this.options.firstByteTimeoutMs,
        bodyTimeout: this.options.idleTimeoutMs,
      }
      connection.client.dispatch(options, attempt)
      // A request that undici refuses to send ends before it has begun, and no event follows.
      if (attempt.isOver) this.#discard(connection)
    } catch (error) {
      attempt.onError(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async close(): Promise<void> {
    this.#free.length = 0
    this.#resting.length = 0
    await Promise.all([...this.#all].map((connection) => connection.client.destroy()))
  }

  #idleConnection(): Connection | null {
    const nowMs = performance.now()
    if (this.#resting.length > 0) this.#endRests(nowMs)
    const idleLimitMs = this.#rules.idleLimitMs(nowMs)
    for (;;) {
      const connection = this.#free.pop()
      if (connection === undefined) return null
      if (nowMs - connection.idleSinceMs < idleLimitMs) return connection
      this.#discard(connection)
    }
  }

  #endRests(nowMs: number): void {
    const still = this.#resting.findIndex(({ restsUntilMs }) => restsUntilMs > nowMs)
    const rested = this.#resting.splice(0, still < 0 ? this.#resting.length : still)
    for (const { streamed } of rested) this.#rules.outlasted(streamed)
    this.#free.push(...rested)
  }

  #open(): Connection {
    const connection = this.#make()
    this.#all.add(connection)
    connection.client.on('drain', () => this.#release(connection))
    connection.client.on('disconnect', (_origin, _clients, error) => this.#lost(connection, error))
    return connection
  }

  /** Frees a connection whose attempt has ended; undici would now accept the next one. */
  #release(connection: Connection): void {
    if (!this.#all.has(connection)) return
    if (!connection.isOpen) {
      this.#discard(connection)
      return
    }
    const restMs = this.#rules.restMs(connection.streamed)
    if (restMs === 0) {
      this.#free.push(connection)
      return
    }
    connection.restsUntilMs = connection.idleSinceMs + restMs
    this.#resting.push(connection)
  }

  /** Drops an idle connection whose socket is gone, so that a burst leaves none behind. */
  #lost(connection: Connection, error: Error): void {
    connection.lost(error)
    for (const idle of [this.#free, this.#resting]) {
      const index = idle.indexOf(connection)
      if (index < 0) continue
      idle.splice(index, 1)
      this.#discard(connection)
    }
  }

  #discard(connection: Connection): void {
    if (this.#all.delete(connection)) connection.client.destroy().catch(reportFault)
  }

  /**
   * The headers with framing. undici frames a single buffer itself; a list or a stream needs
   * `Content-Length`, or is sent chunked.
   */
  #framedHeaders(request: TransportRequest): string[] {
    let headers = request.headers as string[]
    if (this.#proxyHeaders.length > 0) headers = [...this.#proxyHeaders, ...headers]
    const framesItself = request.body === null || (isHeld(request.body) && request.body.length <= 1)
    if (framesItself || request.bodyBytes === null) return headers
    return [...headers, 'content-length', String(request.bodyBytes)]
  }
}

function proxyHeaders(origin: string, { authorization }: UpstreamProxy): string[] {
  const host = ['host', new URL(origin).host]
  return authorization === null ? host : [...host, 'Proxy-Authorization', authorization]
}

function transportBody(body: TransportRequest['body']): Uint8Array | null {
  if (isHeld(body) && body.length <= 1) return body[0] ?? null
  // undici accepts any iterable, although its types do not say so.
  return body as Uint8Array | null
}

/**
 * undici reads the reason phrase as UTF-8; valid UTF-8 is forwarded byte for byte. A phrase with
 * control characters, which RFC 9112 §4 forbids, is left out.
 */
function phraseOf(statusText: string): string {
  if (/^[ -~]*$/.test(statusText)) return statusText
  const phrase = Buffer.from(statusText).toString('latin1')
  return /^[\t -~\x80-\xff]*$/.test(phrase) ? phrase : ''
}

const noCodings: readonly string[] = []

/** The head of an answer, to which headers may be added. */
export interface AnswerHead extends ResponseHead {
  readonly headers: string[]
  /** True if the body is in a transfer coding besides `chunked`, which only the client can undo. */
  readonly isTransferCoded: boolean
}

/**
 * Reads an answer's head from its raw bytes, in Latin-1 as in HTTP. Order, spelling and duplicates are
 * kept; hop-by-hop headers are removed, but for a transfer coding of the body.
 */
export function readHead(status: number, statusText: string, raw: readonly Buffer[]): AnswerHead {
  const endToEnd: string[] = []
  let connection: string | null = null
  let contentLength: number | null = null
  /** Transfer codings; null for `chunked` alone, as usual. */
  let codings: string[] | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toString('latin1') ?? ''
    const value = raw[i + 1]?.toString('latin1') ?? ''
    const lower = name.toLowerCase()
    if (hopByHopHeaders.has(lower)) {
      if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`
      else if (lower === 'transfer-encoding' && value !== 'chunked')
        codings = [...(codings ?? []), ...listTokens(value)]
      continue
    }
    if (lower === 'content-length') contentLength = Number(value)
    endToEnd.push(name, value)
  }
  const headers = connection === null ? endToEnd : withoutNominated(endToEnd, connection)
  const coded = codings?.filter((coding) => coding !== 'chunked' && coding !== 'identity') ?? noCodings
  const isTransferCoded = coded.length > 0
  if (isTransferCoded) headers.push('Transfer-Encoding', [...coded, 'chunked'].join(', '))
  return { status, statusText: phraseOf(statusText), headers, contentLength, isTransferCoded }
}
