import type { Socket } from 'node:net'
import { keepPaused } from './keep-paused.ts'

/** After each read, flooding connections rest for this multiple of its time, and at least for `leastRestMs`. */
const restShare = 3
const leastRestMs = 10

/**
 * Limits bodies that arrive in chunks of a few bytes. Node passes each chunk by itself, and reads everything, so one upload
 * would take most of the process's time. Such connections are read in turn, one read each, with a rest after each read.
 */
export class PacedReading {
  /** The resting connections, in order. */
  readonly #resting = new Set<Socket>()
  readonly #watched = new WeakSet<Socket>()
  #timer: NodeJS.Timeout | null = null
  /** Time of the last read, in milliseconds. */
  #lastMs = 0

  /** A connection has brought many tiny pieces: it is not read again before its turn. */
  rest(socket: Socket): void {
    if (this.#resting.has(socket)) return
    this.#resting.add(socket)
    // A connection that is being closed is read to its end.
    if (!this.#watched.has(socket)) keepPaused(socket, () => this.#resting.has(socket) && socket.writable)
    this.#watched.add(socket)
    socket.pause()
    if (this.#timer !== null) return
    const beganMs = performance.now()
    // The rest of the read is taken apart by then.
    setImmediate(() => {
      this.#lastMs = performance.now() - beganMs
      this.#planNext(this.#lastMs * restShare)
    })
  }

  #planNext(ms: number): void {
    this.#timer ??= setTimeout(() => this.#next(), Math.max(leastRestMs, ms))
  }

  #next(): void {
    const [socket] = this.#resting
    this.#timer = null
    if (socket === undefined) return
    this.#resting.delete(socket)
    socket.resume()
    if (this.#resting.size > 0) this.#planNext(this.#lastMs * restShare)
  }
}
