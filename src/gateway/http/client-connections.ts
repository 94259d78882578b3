import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../call/failure.ts'
import { reportFault } from '../../lib/fault.ts'
import { answerOn } from './malformed-requests.ts'
import { endReading } from './request-body.ts'

/** Bytes that a connection may send outside of requests and bodies: in all, and for each byte of a body in progress. */
const mostUnused = 16 * 1024 * 1024
const mostPerByte = 8
const lookEveryMs = 250

/** The newest request of a connection, and the bytes read by the time it began or was complete. */
interface Newest {
  req: IncomingMessage | null
  readBytes: number
}

/** A call whose request has begun to arrive. */
interface BegunCall {
  readonly arrived: { readonly req: IncomingMessage }
  readonly request: { readonly arrivedBytes: number }
}

/** Takes connections over from a gateway that was replaced. */
export interface ConnectionTaker {
  /** False once it takes no more connections. */
  readonly takes: boolean
  /** Resolves with true when the connection is on its way; false if no gateway takes it. Never rejects. */
  passOn(connection: Socket): Promise<boolean>
}

/**
 * The open connections of clients. Idle ones are passed on to a successor. A connection ends if it sends only
 * meaningless bytes, which HTTP allows without limit: empty lines before a request, zeros before the size of a
 * chunk. Node's parser does not report such bytes.
 */
export class ClientConnections {
  readonly #server: Server
  readonly #calls: () => Iterable<BegunCall>
  /** The open connections; null once the input of one is refused. */
  readonly #open = new Map<Socket, Newest | null>()
  /** The successor that takes connections; null before this gateway is replaced. */
  taker: ConnectionTaker | null = null
  #isPassing = false
  #onNobody = (): void => {}

  constructor(server: Server, calls: () => Iterable<BegunCall>) {
    this.#server = server
    this.#calls = calls
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, { req: null, readBytes: 0 })
      socket.once('close', () => this.#forget(socket))
    })
    setInterval(() => this.#lookForUnused(), lookEveryMs).unref()
  }

  /** Call it when a request has begun. */
  requested(req: IncomingMessage): void {
    const newest = this.#open.get(req.socket)
    if (newest === undefined || newest === null) return
    newest.req = req
    newest.readBytes = req.socket.bytesRead
  }

  /** Resolves when no connection is left. */
  async allClosed(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onNobody = resolve))
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket)
    if (this.#open.size === 0) this.#onNobody()
  }

  /** Passes idle connections on, if a successor takes them. */
  pass(): void {
    // If bytes were read by then, a request has begun.
    if (this.taker?.takes === true && !this.#isPassing) {
      this.#isPassing = true
      setImmediate(() => {
        this.#passAll()
          .catch(reportFault)
          .finally(() => (this.#isPassing = false))
      })
    }
  }

  /** Passes idle connections on, one at a time, because a request may begin on the others meanwhile. */
  async #passAll(): Promise<void> {
    for (;;) {
      const taker = this.taker
      const socket = taker?.takes === true ? this.#idle() : undefined
      if (taker === null || socket === undefined) return
      // Paused, because bytes that are read from here on would be lost.
      socket.pause()
      if (!(await taker.passOn(socket))) socket.destroy()
      this.#forget(socket)
      await nextTurn()
    }
  }

  /** A connection on which no request has begun, and no answer is still to be written. */
  #idle(): Socket | undefined {
    const isFree = (socket: Socket): boolean =>
      !socket.destroyed && socket.writableLength === 0 && answerOn(socket) === null
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0 && isFree(socket)) return socket
    return idleConnections(this.#server).find(isFree)
  }

  /** Closes connections on which no request is under way. */
  closeIdle(): void {
    this.#server.closeIdleConnections()
    // A connection without any bytes so far is not idle for Node, but here it is.
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Looks for connections that sent far more bytes than their requests have. */
  #lookForUnused(): void {
    const bodies = new Map<IncomingMessage, number>()
    for (const { arrived, request } of this.#calls()) bodies.set(arrived.req, request.arrivedBytes)
    for (const [socket, newest] of this.#open) {
      if (newest === null) continue
      const { req } = newest
      if (req?.complete === true) {
        newest.req = null
        newest.readBytes = socket.bytesRead
        continue
      }
      const body = req === null ? 0 : (bodies.get(req) ?? 0)
      if (socket.bytesRead - newest.readBytes > mostUnused + mostPerByte * body) this.#refuse(socket, req)
    }
  }

  #refuse(socket: Socket, req: IncomingMessage | null): void {
    this.#open.set(socket, null)
    const failure = new Failure('invalid_request', 'The client sent far more bytes than its requests have.')
    if (req === null || !endReading(req, failure)) socket.destroy()
  }
}

/** The idle connections. Only Node's parser knows them, and shows them only by closing them. */
function idleConnections(server: Server): readonly Socket[] {
  const idle: Socket[] = []
  // oxlint-disable-next-line typescript/unbound-method -- it is put back where it was
  const { destroy } = Socket.prototype
  Socket.prototype.destroy = function (this: Socket) {
    idle.push(this)
    return this
  }
  try {
    server.closeIdleConnections()
  } finally {
    Socket.prototype.destroy = destroy
  }
  return idle
}
