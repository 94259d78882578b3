import type { Socket } from 'node:net'
import { Client, type Dispatcher, buildConnector } from 'undici'

export interface ConnectionPoolOptions {
  /** Until the socket, TLS included, is ready. */
  readonly connectTimeoutMs: number
  /** Largest response header block, in bytes. */
  readonly maxHeaderBytes: number
}

/**
 * Without a hint from the upstream a connection is not reused after idling this long: shorter than the five
 * seconds that Node's and Python's common servers wait, so that a request does not meet a closing socket.
 */
const keepAliveMs = 4000
/** Of a `Keep-Alive: timeout` hint this much is left unused. */
const keepAliveMarginMs = 1000
const tcpKeepAliveDelayMs = 30_000

/** One undici client, which holds one socket at a time and at most one attempt. */
export class Connection {
  readonly client: Client
  /** Attempts that were put on the present socket; above 1 it was reused. */
  attemptsOnSocket = 0

  constructor(origin: string, options: ConnectionPoolOptions) {
    const connect = buildConnector({
      timeout: options.connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveDelayMs,
    })
    this.client = new Client(origin, {
      pipelining: 1,
      maxHeaderSize: options.maxHeaderBytes,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: keepAliveMarginMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) =>
        connect(target, (...outcome) => {
          if (outcome[0] === null) this.#adopt(outcome[1])
          callback(...outcome)
        }),
    })
  }

  #adopt(socket: Socket): void {
    this.attemptsOnSocket = 1
    socket.once('error', renameReset)
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
 * As many connections to one origin as there are attempts at a time. undici's own pool looks for a free
 * connection by walking over all of them, which at thousands of open streams costs more than the call; here
 * the free ones are a stack, and the one that was used last goes first, so that the others may idle out.
 */
export class ConnectionPool {
  readonly #origin: string
  readonly #options: ConnectionPoolOptions
  readonly #free: Connection[] = []
  readonly #all = new Set<Connection>()

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#origin = origin
    this.#options = options
  }

  /** Puts the attempt that `handlerFor` makes on a free connection, or on a new one. */
  dispatch(
    options: Dispatcher.DispatchOptions,
    handlerFor: (connection: Connection) => Dispatcher.DispatchHandler,
  ): void {
    const connection = this.#free.pop() ?? this.#open()
    connection.attemptsOnSocket++
    const hasRoom = connection.client.dispatch(options, handlerFor(connection))
    if (hasRoom) this.#free.push(connection)
  }

  async close(): Promise<void> {
    this.#free.length = 0
    await Promise.all([...this.#all].map((connection) => connection.client.destroy()))
  }

  #open(): Connection {
    const connection = new Connection(this.#origin, this.#options)
    this.#all.add(connection)
    connection.client.on('drain', () => this.#free.push(connection))
    connection.client.on('disconnect', () => this.#forget(connection))
    return connection
  }

  /** A connection whose socket idled out goes with it, so that a burst leaves nothing behind. */
  #forget(connection: Connection): void {
    const index = this.#free.indexOf(connection)
    if (index < 0) return
    this.#free.splice(index, 1)
    this.#all.delete(connection)
    void connection.client.close()
  }
}
