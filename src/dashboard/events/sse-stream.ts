import type { ServerResponse } from 'node:http'
import { sseComment, sseEvent, sseRetry } from '../../lib/sse-frame.ts'

/** After so many beats without room in between, a reader is gone for good. */
const maxMissedBeats = 4

/** How a stream treats its reader. */
export interface SseStreamOptions {
  /** How much may wait in memory for the reader. Beyond it events are refused; one event may exceed it. */
  readonly maxBacklogBytes: number
  /** How long the reader waits before it connects again. */
  readonly retryMs: number
}

/** The sending side of one text/event-stream. A reader that does not read costs a bounded amount of memory. */
export class SseStream {
  readonly #response: ServerResponse
  readonly #maxBacklogBytes: number
  #whenRoom: (() => void)[] = []
  #missedBeats = 0

  /** Takes over an answer of which nothing was sent. */
  constructor(response: ServerResponse, { maxBacklogBytes, retryMs }: SseStreamOptions) {
    this.#response = response
    this.#maxBacklogBytes = maxBacklogBytes
    response.on('drain', () => this.#onDrain())
    // What comes after a stream's end is a new one.
    response.shouldKeepAlive = false
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Proxies of the nginx family hold a stream back otherwise.
      'X-Accel-Buffering': 'no',
    })
    response.write(sseRetry(retryMs))
  }

  /** False where the reader is too far behind, or gone: the event is not sent. */
  send(name: string | null, data: string, id?: string): boolean {
    if (!this.#hasRoom()) return false
    this.#response.write(sseEvent(name, data, id))
    return true
  }

  /** Calls back once when an event that was refused could be sent; never if the reader leaves before. */
  whenRoom(callback: () => void): void {
    this.#whenRoom.push(callback)
  }

  /** To be called at intervals: keeps the connection in use, and breaks it when nobody reads any more. */
  beat(): void {
    if (this.#hasRoom()) {
      this.#response.write(sseComment)
      this.#missedBeats = 0
      return
    }
    this.#missedBeats += 1
    if (this.#missedBeats >= maxMissedBeats) this.#response.destroy()
  }

  onClose(callback: () => void): void {
    this.#response.once('close', callback)
  }

  end(): void {
    this.#response.end()
  }

  #hasRoom(): boolean {
    return !this.#response.writableEnded && this.#response.writableLength <= this.#maxBacklogBytes
  }

  #onDrain(): void {
    const callbacks = this.#whenRoom
    this.#whenRoom = []
    for (const callback of callbacks) callback()
  }
}
