import type { Socket } from 'node:net'

/** After a read, flooding connections rest for this multiple of the read's time, and at least for `leastRestMs`. */
const restShare = 3
const leastRestMs = 10

/**
 * Limits bodies that arrive in chunks of a few bytes. Node handles each chunk by itself, so a single upload
 * could take most of the process's time. Such connections are read in turn, one read each, with a rest after
 * each read.
 */
export class PacedReading {
  /** The resting connections, in order. */
  readonly #resting = new Set<Socket>()
  readonly #watched = new WeakSet<Socket>()
  #timer: NodeJS.Timeout | null = null
  /** Duration of the last read in milliseconds. */
  #lastMs = 0

  /** Pauses a connection that has brought many tiny chunks, until its turn. */
  rest(socket: Socket): void {
    if (this.#resting.has(socket)) return
    this.#resting.add(socket)
    // A connection that is being closed does not rest.
    if (!this.#watched.has(socket)) keepPaused(socket, () => this.#resting.has(socket) && socket.writable)
    this.#watched.add(socket)
    socket.pause()
    if (this.#timer !== null) return
    const beganMs = performance.now()
    // By then the rest of the read has been parsed.
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

/**
 * Keeps a socket paused while `isResting` returns true. Node itself resumes a connection, to read a body, or
 * when an answer drains.
 */
export function keepPaused(socket: Socket, isResting: () => boolean): void {
  socket.on('resume', () => {
    if (isResting()) socket.pause()
  })
}
