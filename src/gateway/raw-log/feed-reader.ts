import type { ServerResponse } from 'node:http'
import type { RawLogEvent } from '../../api/raw-log.ts'
import type { PayloadEvent } from '../../call/payload-port.ts'
import { sseComment, sseEvent, sseRetry } from '../../lib/http/http.ts'

/** An event as it goes over the wire, one buffer for all readers. */
export interface FeedFrame {
  /** Records that a reader misses with this frame. */
  readonly records: number
  readonly bytes: Uint8Array
}

/** Bytes that may wait in this process for one reader; one event may exceed the bound. The kernel's buffers come on top. */
const maxUnsentBytes = 2 * 1024 * 1024
/** A reader that has taken nothing over this many beats, although bytes wait for it, is let go. */
const maxMissedBeats = 4
const retryMs = 2000

const dataField = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/** A frame that keeps a silent connection in use. */
export const beatFrame: FeedFrame = { records: 0, bytes: Buffer.from(sseComment) }

/** An event of the log on the wire: unnamed, and a record has its seq for an id. */
export function frameOf({ seq, json }: PayloadEvent): FeedFrame {
  const start = seq === null ? dataField : Buffer.from(`id: ${seq}\ndata: `)
  return { records: seq === null ? 0 : 1, bytes: Buffer.concat([start, json, eventEnd]) }
}

/** An event of the feed's own. */
export function ownFrame(event: Extract<RawLogEvent, { readonly type: string }>): FeedFrame {
  const records = event.type === 'dropped' ? event.count : 0
  return { records, bytes: Buffer.from(sseEvent(null, JSON.stringify(event))) }
}

/** One reader of the feed: a connection that is given the events that fit in its buffer, and a count of the records that did not. */
export class FeedReader {
  readonly #response: ServerResponse
  #missedRecords = 0
  #missedBeats = 0
  #takenBytes = 0

  /** Takes over an answer of which nothing was sent. */
  constructor(response: ServerResponse, isLogging: boolean) {
    this.#response = response
    // The end of the answer is that of the connection, so that every reader is sent the same bytes, without chunks around them.
    response.shouldKeepAlive = false
    // `close` tells that a reader is gone; no error of its connection may become a fault of the gateway.
    response.on('error', () => {})
    response.on('drain', () => this.#sendLoss())
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      // Proxies of the nginx family hold a stream back otherwise.
      'X-Accel-Buffering': 'no',
    })
    response.write(sseRetry(retryMs))
    response.write(ownFrame({ type: 'connected', enabled: isLogging }).bytes)
  }

  give(frames: readonly FeedFrame[]): void {
    this.#response.cork()
    for (const { records, bytes } of frames) {
      const unsent = this.#response.writableLength
      if (unsent === 0 || unsent + bytes.length < maxUnsentBytes) {
        this.#sendLoss()
        this.#response.write(bytes)
      } else this.#missedRecords += records
    }
    this.#response.uncork()
  }

  /** To be called at intervals: breaks the connection when nobody reads from it any more. */
  beat(): void {
    const unsent = this.#response.writableLength
    const taken = (this.#response.socket?.bytesWritten ?? 0) - unsent
    this.#missedBeats = unsent === 0 || taken > this.#takenBytes ? 0 : this.#missedBeats + 1
    this.#takenBytes = taken
    if (this.#missedBeats >= maxMissedBeats) this.#response.destroy()
  }

  end(): void {
    this.#sendLoss()
    this.#response.end()
  }

  #sendLoss(): void {
    const count = this.#missedRecords
    if (count === 0) return
    this.#missedRecords = 0
    this.#response.write(ownFrame({ type: 'dropped', count }).bytes)
  }
}
