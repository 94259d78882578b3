import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { keepPaused } from './paced-reading.ts'

/** A connection with this many waiting pipelined requests is paused until half are left. */
const mostWaiting = 16
/**
 * Most waiting requests beyond `mostWaiting`, over all connections. A single read can bring some thousand before
 * reading stops.
 */
const mostBeyond = 10_000

/**
 * Pipelined requests: sent before earlier ones were answered (RFC 9112 §9.3.2). Each takes some kilobytes of
 * memory. Node would parse any number, because it stops only when answers pile up, and here a request is
 * answered when its turn comes.
 */
export class PipelinedRequests {
  /** Waiting requests by connection. */
  readonly #waiting = new Map<Socket, number>()
  #beyond = 0

  /** Calls back when the answers before this request have been written. */
  wait({ socket }: IncomingMessage, res: ServerResponse, onTurn: () => void): void {
    if (!this.#waiting.has(socket)) this.#watch(socket)
    this.#change(socket, 1)
    if (this.#isFull(socket)) socket.pause()
    res.once('socket', () => {
      this.#change(socket, -1)
      if (this.#waiting.get(socket) === mostWaiting / 2) socket.resume()
      // Other connections get a turn first, because answers that are ready at once could follow one another
      // without end.
      setImmediate(onTurn)
    })
    if (this.#beyond > mostBeyond) this.#breakLongest()
  }

  #watch(socket: Socket): void {
    this.#waiting.set(socket, 0)
    keepPaused(socket, () => this.#isFull(socket))
    socket.once('close', () => this.#forget(socket))
  }

  #isFull(socket: Socket): boolean {
    return (this.#waiting.get(socket) ?? 0) > mostWaiting
  }

  #change(socket: Socket, by: number): void {
    const before = this.#waiting.get(socket)
    if (before === undefined) return
    this.#waiting.set(socket, before + by)
    this.#beyond += Math.max(0, before + by - mostWaiting) - Math.max(0, before - mostWaiting)
  }

  #forget(socket: Socket): void {
    this.#change(socket, -(this.#waiting.get(socket) ?? 0))
    this.#waiting.delete(socket)
  }

  #breakLongest(): void {
    let longest: Socket | null = null
    let most = 0
    for (const [socket, waiting] of this.#waiting) {
      if (waiting <= most) continue
      longest = socket
      most = waiting
    }
    if (longest === null) return
    this.#forget(longest)
    longest.destroy()
  }
}
