import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../call/failure.ts'
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
  readonly record: { readonly requestBytes: number }
}

/**
 * Ends connections that send only meaningless bytes, which HTTP allows without limit: empty lines before a
 * request, zeros before the size of a chunk. Node's parser does not report such bytes.
 */
export class UnusedBytes {
  readonly #calls: () => Iterable<BegunCall>
  readonly #newest = new Map<Socket, Newest>()
  readonly #timer: NodeJS.Timeout

  constructor(calls: () => Iterable<BegunCall>) {
    this.#calls = calls
    this.#timer = setInterval(() => this.#update(), lookEveryMs).unref()
  }

  connected(socket: Socket): void {
    this.#newest.set(socket, { req: null, readBytes: 0 })
    socket.once('close', () => this.#newest.delete(socket))
  }

  requested(req: IncomingMessage): void {
    const newest = this.#newest.get(req.socket)
    if (newest === undefined) return
    newest.req = req
    newest.readBytes = req.socket.bytesRead
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #update(): void {
    const bodies = new Map<IncomingMessage, number>()
    for (const { arrived, record } of this.#calls()) bodies.set(arrived.req, record.requestBytes)
    for (const [socket, newest] of this.#newest) {
      const { req } = newest
      if (req?.complete === true) {
        newest.req = null
        newest.readBytes = socket.bytesRead
        continue
      }
      const body = req === null ? 0 : (bodies.get(req) ?? 0)
      if (socket.bytesRead - newest.readBytes > mostUnused + mostPerByte * body) this.#end(socket, req)
    }
  }

  #end(socket: Socket, req: IncomingMessage | null): void {
    this.#newest.delete(socket)
    const failure = new Failure('invalid_request', 'The client sent far more bytes than its requests have.')
    if (req === null || !endReading(req, failure)) socket.destroy()
  }
}
