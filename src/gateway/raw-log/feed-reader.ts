import type { ServerResponse } from 'node:http'
import type { RawLogEvent } from '../../api/raw-log.ts'
import type { PayloadEvent } from '../../call/payload-port.ts'
import { sseComment, sseEvent, sseRetry } from '../../lib/http/http.ts'

/** An event as it goes over the wire, one buffer for all readers. */
export interface FeedFrame {
  /** How many records a reader misses without this frame. */
  readonly records: number
  readonly bytes: Uint8Array
}

/** Most unsent bytes of one reader in this process, besides the kernel's buffers; a single event may be larger. */
const maxUnsentBytes = 2 * 1024 * 1024
/** A reader that reads nothing over this many beats, although bytes wait, is disconnected. */
const maxMissedBeats = 4
const retryMs = 2000

const dataField = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/** A frame that keeps a silent connection in use. */
export const beatFrame: FeedFrame = { records: 0, bytes: Buffer.from(sseComment) }

/** The frame of an event of the log. The event has no name; a record's id is its seq. */
export function frameOf({ seq, json }: PayloadEvent): FeedFrame {
  const start = seq === null ? dataField : Buffer.from(`id: ${seq}\ndata: `)
  return { records: seq === null ? 0 : 1, bytes: Buffer.concat([start, json, eventEnd]) }
}

/** The frame of an event about the feed itself. */
export function ownFrame(event: Extract<RawLogEvent, { readonly type: string }>): FeedFrame {
  const records = event.type === 'dropped' ? event.count : 0
  return { records, bytes: Buffer.from(sseEvent(null, JSON.stringify(event))) }
}

/**
 * A reader of the feed: a connection that gets the events that fit in its buffer, and the number of records
 * that did not fit.
 */
export class FeedReader {
  readonly #response: ServerResponse
  #missedRecords = 0
  #missedBeats = 0
  #takenBytes = 0

  /** `response` must not have begun. */
  constructor(response: ServerResponse, isLogging: boolean) {
    this.#response = response
    // The connection ends with the answer. Without chunked coding, all readers get the same bytes.
    response.shouldKeepAlive = false
    // Errors of the connection are ignored; `close` follows.
    response.on('error', () => {})
    response.on('drain', () => this.#sendLoss())
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      // nginx and similar proxies would otherwise buffer the stream.
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

  /** Closes the connection if its reader no longer reads. Call it at intervals. */
  beat(): void {
    const unsent = this.#response.writableLength
    const takenBytes = (this.#response.socket?.bytesWritten ?? 0) - unsent
    this.#missedBeats = unsent === 0 || takenBytes > this.#takenBytes ? 0 : this.#missedBeats + 1
    this.#takenBytes = takenBytes
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
