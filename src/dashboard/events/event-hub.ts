import type { ServerResponse } from 'node:http'
import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import { SseStream } from './sse-stream.ts'
import type { Topic } from './topic.ts'

const maxReaders = 64
/** Proxies cut connections on which nothing comes for a minute, some for half of one. */
const beatMs = 15_000
const streamOptions = { maxBacklogBytes: 256 * 1024, retryMs: 2000 }

/** Tells those who ask for it that the stream is alive: a page sees no comments. */
const beat: EventData['beat'] = { every_ms: beatMs }

/** The readers of `/api/events`, each with its topics on one stream. */
export class EventHub {
  /** The names that `topics=` takes. */
  readonly topicNames: readonly string[]
  readonly #topics: readonly Topic[]
  readonly #clock: Clock
  readonly #streams = new Map<SseStream, readonly string[]>()
  #stopBeat: (() => void) | null = null

  constructor(topics: readonly Topic[], clock: Clock) {
    this.#topics = topics
    this.topicNames = [...topics.map(({ name }) => name), 'beat']
    this.#clock = clock
  }

  get isFull(): boolean {
    return this.#streams.size >= maxReaders
  }

  /** Takes over an answer of which nothing was sent, until the reader leaves or the hub closes. */
  open(response: ServerResponse, names: readonly string[]): void {
    const stream = new SseStream(response, streamOptions)
    this.#streams.set(stream, names)
    this.#stopBeat ??= this.#scheduleBeat()
    sendBeat(stream, names)
    const unsubscribes = this.#topics
      .filter(({ name }) => names.includes(name))
      .map((topic) =>
        topic.subscribe({
          send: (json) => stream.send(topic.name, json),
          whenRoom: (callback) => stream.whenRoom(callback),
        }),
      )
    stream.onClose(() => {
      for (const unsubscribe of unsubscribes) unsubscribe()
      this.#streams.delete(stream)
      if (this.#streams.size === 0) this.#rest()
    })
  }

  /** Ends every stream. */
  close(): void {
    for (const stream of this.#streams.keys()) stream.end()
    this.#rest()
  }

  #scheduleBeat(): () => void {
    return this.#clock.after(
      beatMs,
      () => {
        this.#stopBeat = this.#scheduleBeat()
        for (const [stream, names] of this.#streams) {
          stream.beat()
          sendBeat(stream, names)
        }
      },
      { background: true },
    )
  }

  #rest(): void {
    this.#stopBeat?.()
    this.#stopBeat = null
  }
}

function sendBeat(stream: SseStream, names: readonly string[]): void {
  if (names.includes('beat')) stream.send('beat', JSON.stringify(beat))
}
