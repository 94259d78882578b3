import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import type { Dispatcher, buildConnector } from 'undici'
import { Failure } from '../../call/failure.ts'
import { ReuseRules } from './reuse-rules.ts'
import { Client, buildConnector as makeConnector, takeContinue } from './undici.ts'
import { type UpstreamProxy, tunnelConnector } from './upstream-proxy.ts'
import { reportFault } from '../../lib/fault.ts'

export interface ConnectionPoolOptions {
  /** Until the socket, TLS included, is ready. */
  readonly connectTimeoutMs: number
  /** Largest response header block, in bytes. */
  readonly maxHeaderBytes: number
  /** Connections are tunnelled through it; `null` where they lead to the origin itself. */
  readonly tunnel: UpstreamProxy | null
}

type UndiciVerb = 'onConnect' | 'onHeaders' | 'onData' | 'onComplete' | 'onError'

/** An attempt as undici sees it: its verbs are called synchronously, in the turn in which the bytes arrived. */
export interface PooledAttempt extends Required<Pick<Dispatcher.DispatchHandler, UndiciVerb>> {
  /** True once the attempt has ended. */
  readonly isOver: boolean
  /** Set by the pool before undici's first callback. */
  connection: Connection | null
}

/**
 * Without a hint from the upstream a connection is not reused after idling this long: shorter than the five
 * seconds that Node's and Python's common servers wait, so that a request does not meet a closing socket.
 */
const keepAliveMs = 4000
/** Margin below a `Keep-Alive: timeout` hint. */
const keepAliveMarginMs = 1000
const tcpKeepAliveDelayMs = 30_000
/** A dead connection fails within this time of the request; a later end has another reason. */
const deathWithinMs = 1000

/** An undici client, with one socket at a time and at most one attempt. */
export class Connection {
  readonly client: Client
  /** Attempts that were put on the present socket; above 1 it was reused. */
  attemptsOnSocket = 0
  isOpen = false
  /** When the connection began to rest after an answer; `performance.now()`. */
  restsUntilMs = 0
  /** The last answer on it had no `Content-Length`. */
  streamed = false
  /** Since its last answer; `performance.now()`. */
  idleSinceMs = 0
  /** A part of an answer has come, and no framing alone; attempts set it. */
  hasProgressed = false
  #isIdle = false
  #sentAtMs = 0
  #socket: Socket | null = null
  /** Bytes of the socket up to the last part of an answer; -1 before the next check. */
  #progressBytes = -1
  readonly #rules: ReuseRules

  constructor(
    origin: string,
    options: ConnectionPoolOptions,
    connect: buildConnector.connector,
    rules: ReuseRules,
  ) {
    this.#rules = rules
    this.client = new Client(origin, {
      pipelining: 1,
      maxHeaderSize: options.maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: keepAliveMarginMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) =>
        connect(target, (...outcome) => {
          if (outcome[0] === null) this.#adopt(outcome[1], options.maxHeaderBytes)
          callback(...outcome)
        }),
    })
  }

  /** A request is being sent. */
  sending(): void {
    this.#isIdle = false
    this.#sentAtMs = performance.now()
    this.hasProgressed = false
    this.#progressBytes = this.#socket?.bytesRead ?? -1
  }

  /** The answer is complete. `streamed`: it had no `Content-Length`. */
  answered(streamed: boolean): void {
    this.#isIdle = true
    this.idleSinceMs = performance.now()
    this.streamed = streamed
  }

  /** A request on a reused socket got no answer. */
  died(): void {
    const nowMs = performance.now()
    if (nowMs - this.#sentAtMs >= deathWithinMs) return
    this.#rules.died(this.streamed, this.#sentAtMs - this.idleSinceMs, nowMs)
  }

  /** The socket is gone. The upstream closed it, unless the error is a note of undici (`UND_ERR_INFO`). */
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
   * Ends a connection whose upstream sends endless bytes without content: a status line, interim responses, extensions of
   * a chunk. undici counts names and values of headers alone. Runs before undici reads, and looks at what it has read.
   */
  #boundFraming(socket: Socket, mostBytes: number): void {
    if (this.hasProgressed) {
      this.hasProgressed = false
      this.#progressBytes = -1
      return
    }
    const taken = socket.bytesRead - socket.readableLength
    if (this.#progressBytes < 0) this.#progressBytes = taken
    else if (taken - this.#progressBytes > mostBytes) {
      const message = `The upstream sent ${mostBytes / 1024} KiB that are no part of an answer, more than is taken.`
      socket.destroy(new Failure('upstream_protocol_error', message))
    }
  }
}

/**
 * undici takes an ECONNRESET for the end of an answer after which the connection would not be kept, also where
 * only the connection delimits it, and fails an assertion, which ends the process, where it was paused at that
 * moment. Under another code a reset is an error like any other. Runs before undici's own listener.
 */
function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET'
}

/**
 * Connections to one origin, one for each attempt at a time. undici's own pool searches a free
 * connection by walking over all of them, which at thousands of open streams costs more than the call; here
 * the free ones are a stack, and the one that was used last goes first, so that the others may idle out.
 */
export class ConnectionPool {
  readonly #make: () => Connection
  readonly #rules = new ReuseRules()
  readonly #free: Connection[] = []
  /** Not yet safe to be used again, in the order in which their answers ended. */
  readonly #resting: Connection[] = []
  readonly #all = new Set<Connection>()

  constructor(origin: string, options: ConnectionPoolOptions) {
    const { tunnel, connectTimeoutMs } = options
    const connect = makeConnector({
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveDelayMs,
    })
    // All connections share one connector and its TLS sessions, so that new ones cost less.
    const connector = tunnel === null ? connect : tunnelConnector(tunnel, connect, connectTimeoutMs)
    this.#make = () => new Connection(origin, options, connector, this.#rules)
  }

  /** Connections that are open or being opened. */
  get size(): number {
    return this.#all.size
  }

  /** Puts an attempt on a free connection, or on a new one. */
  dispatch(options: Dispatcher.DispatchOptions, fresh: boolean, attempt: PooledAttempt): void {
    const connection = (fresh ? null : this.#idleConnection()) ?? this.#open()
    connection.attemptsOnSocket++
    attempt.connection = connection
    connection.client.dispatch(options, attempt)
    // A request that undici refuses to send ends before it has begun, and no event follows.
    if (attempt.isOver) this.#discard(connection)
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

  /** The attempt is over, and undici would take the next one. */
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

  /** A connection whose socket is gone goes with it, so that a burst leaves nothing behind. */
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
}
