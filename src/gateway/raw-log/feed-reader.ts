import type { ServerResponse } from 'node:http'
import { sseComment, sseRetry } from '../../lib/http.ts'
import { type FeedFrame, type FeedMemory, type FeedPlace, ownFrame, placeAfter } from './feed-memory.ts'

/** What may wait in this process for a reader to take it; one event may exceed it. The kernel's buffers come on top. */
const maxUnsentBytes = 1024 * 1024
/** What one reader is given before the next has its turn. */
const helpingBytes = 256 * 1024
/** A reader to whom something is on its way, and who has taken nothing over so many beats, is gone for good. */
const maxMissedBeats = 4
const retryMs = 2000

/** One reader of the feed: a place in the memory that all share, and a connection that takes what it can. */
export class FeedReader {
  readonly #response: ServerResponse
  readonly #memory: FeedMemory
  #place: FeedPlace
  #opening: Uint8Array[]
  #beatIsDue = false
  #missedBeats = 0
  #takenBytes = 0

  /** Takes over an answer of which nothing was sent. `opening` comes before what is behind `place`. */
  constructor(
    response: ServerResponse,
    memory: FeedMemory,
    place: FeedPlace,
    opening: readonly Uint8Array[],
  ) {
    this.#response = response
    this.#memory = memory
    this.#place = place
    this.#opening = [Buffer.from(sseRetry(retryMs)), ...opening]
    // Its end is that of the connection, so that every reader is sent the same bytes, without chunks around them.
    response.shouldKeepAlive = false
    // A reader that is gone is told by `close`; no error of its connection may become a fault of the gateway.
    response.on('error', () => {})
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      // Proxies of the nginx family hold a stream back otherwise.
      'X-Accel-Buffering': 'no',
    })
  }

  /** Whether there is something that it could be given now. */
  get isReady(): boolean {
    const next = this.#next
    return next === null ? this.#beatIsDue && this.#hasRoom(0) : this.#hasRoom(next.bytes.length)
  }

  /** Gives it what it has not had, as far as there is room: one helping. */
  serve(): void {
    let left = helpingBytes
    this.#response.cork()
    for (const bytes of this.#opening) this.#response.write(bytes)
    this.#opening = []
    let frame = this.#next
    if (frame !== null && this.#hasRoom(frame.bytes.length)) this.#tellOfLoss()
    while (frame !== null && left > 0 && this.#hasRoom(frame.bytes.length)) {
      this.#response.write(frame.bytes)
      left -= frame.bytes.length
      this.#beatIsDue = false
      this.#place = placeAfter(this.#place, frame)
      frame = this.#memory.at(this.#place)
    }
    if (this.#beatIsDue) this.#response.write(sseComment)
    this.#beatIsDue = false
    this.#response.uncork()
  }

  /** To be called at intervals: has the connection kept in use, and breaks it when nobody reads any more. */
  beat(): void {
    const unsent = this.#response.writableLength
    const taken = (this.#response.socket?.bytesWritten ?? 0) - unsent
    this.#beatIsDue = unsent === 0
    this.#missedBeats = unsent === 0 || taken > this.#takenBytes ? 0 : this.#missedBeats + 1
    this.#takenBytes = taken
    if (this.#missedBeats >= maxMissedBeats) this.#response.destroy()
  }

  end(): void {
    this.#response.end()
  }

  /** The event that it is to be given next: the oldest that is left, where it is behind that. */
  get #next(): FeedFrame | null {
    const { first } = this.#memory
    return this.#memory.at(this.#place.event < first.event ? first : this.#place)
  }

  #hasRoom(bytes: number): boolean {
    const unsent = this.#response.writableLength
    return unsent === 0 || unsent + bytes < maxUnsentBytes
  }

  #tellOfLoss(): void {
    const { first } = this.#memory
    if (this.#place.event >= first.event) return
    const count = first.records - this.#place.records
    this.#place = first
    if (count > 0) this.#response.write(ownFrame({ type: 'dropped', count }).bytes)
  }
}
