import type { ServerResponse } from 'node:http'
import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import { sseComment, sseEvent, sseRetry } from '../../lib/sse-frame.ts'
import type { Topic } from './topic.ts'

const maxReaders = 64
/** How long a reader waits before it connects again. */
const retryMs = 2000
/** How much may wait in memory for a reader. Beyond it events are refused; one event may exceed it. */
const maxBacklogBytes = 256 * 1024
/** Proxies cut connections on which nothing comes for a minute, some for half of one. */
const beatMs = 15_000
/** After so many beats without room in between, a reader is gone for good. */
const maxMissedBeats = 4

/** Tells those who ask for it that the stream is alive: a page sees no comments. */
const beat: EventData['beat'] = { every_ms: beatMs }

/** The readers of `/api/events`, each with its topics on one stream. One that does not read costs a bounded amount of memory. */
export class EventHub {
  /** The names that `topics=` takes. */
  readonly topicNames: readonly string[]
  readonly #topics: readonly Topic[]
  readonly #clock: Clock
  readonly #readers = new Set<ServerResponse>()

  constructor(topics: readonly Topic[], clock: Clock) {
    this.#topics = topics
    this.topicNames = [...topics.map(({ name }) => name), 'beat']
    this.#clock = clock
  }

  get isFull(): boolean {
    return this.#readers.size >= maxReaders
  }

  /** Takes over an answer of which nothing was sent, until the reader leaves or the hub closes. */
  open(response: ServerResponse, names: readonly string[]): void {
    // What comes after a stream's end is a new one.
    response.shouldKeepAlive = false
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Proxies of the nginx family hold a stream back otherwise.
      'X-Accel-Buffering': 'no',
    })
    response.write(sseRetry(retryMs))
    this.#readers.add(response)
    const stopBeats = this.#keepBeating(response, names.includes('beat'))
    const unsubscribes = this.#topics
      .filter(({ name }) => names.includes(name))
      .map((topic) =>
        topic.subscribe({
          send: (json) => send(response, topic.name, json),
          whenRoom: (callback) => response.once('drain', callback),
        }),
      )
    response.once('close', () => {
      stopBeats()
      for (const unsubscribe of unsubscribes) unsubscribe()
      this.#readers.delete(response)
    })
  }

  /** Ends every stream. */
  close(): void {
    for (const response of this.#readers) response.end()
  }

  /** Keeps the connection in use, and breaks it when nobody reads any more. */
  #keepBeating(response: ServerResponse, isTold: boolean): () => void {
    let missed = 0
    const tell = (): void => {
      if (isTold) send(response, 'beat', JSON.stringify(beat))
    }
    const next = (): (() => void) => this.#clock.after(beatMs, onBeat, { background: true })
    const onBeat = (): void => {
      cancel = next()
      if (hasRoom(response)) {
        response.write(sseComment)
        missed = 0
      } else {
        missed += 1
        if (missed >= maxMissedBeats) response.destroy()
      }
      tell()
    }
    let cancel = next()
    tell()
    return () => cancel()
  }
}

/** False if the reader is too far behind, or gone: the event is not sent. */
function send(response: ServerResponse, name: string, json: string): boolean {
  if (!hasRoom(response)) return false
  response.write(sseEvent(name, json))
  return true
}

function hasRoom({ writableEnded, writableLength }: ServerResponse): boolean {
  return !writableEnded && writableLength <= maxBacklogBytes
}
