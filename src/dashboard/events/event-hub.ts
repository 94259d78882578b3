import type { ServerResponse } from 'node:http'
import type { Clock } from '../../call/clock.ts'
import { SseStream } from './sse-stream.ts'
import type { Topic } from './topic.ts'

const maxReaders = 64
/** Proxies cut connections on which nothing comes for a minute, some for half of one. */
const beatMs = 15_000
const streamOptions = { maxBacklogBytes: 256 * 1024, retryMs: 2000 }

/** The readers of `/api/events`, each with its topics on one stream. */
export class EventHub {
  readonly #topics: ReadonlyMap<string, Topic>
  readonly #clock: Clock
  readonly #streams = new Set<SseStream>()
  #stopBeat: (() => void) | null = null

  constructor(topics: readonly Topic[], clock: Clock) {
    this.#topics = new Map(topics.map((topic) => [topic.name, topic]))
    this.#clock = clock
  }

  get topicNames(): readonly string[] {
    return [...this.#topics.keys()]
  }

  get isFull(): boolean {
    return this.#streams.size >= maxReaders
  }

  /** Takes over an answer of which nothing was sent, until the reader leaves or the hub closes. */
  open(response: ServerResponse, names: readonly string[]): void {
    const stream = new SseStream(response, streamOptions)
    this.#streams.add(stream)
    this.#stopBeat ??= this.#scheduleBeat()
    const unsubscribes = this.#chosen(names).map((topic) =>
      topic.subscribe({
        send: (data) => stream.send(topic.name, JSON.stringify(data)),
        sendJson: (json) => stream.send(topic.name, json),
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
    for (const stream of this.#streams) stream.end()
    this.#rest()
  }

  #chosen(names: readonly string[]): readonly Topic[] {
    return [...this.#topics.values()].filter(({ name }) => names.includes(name))
  }

  #scheduleBeat(): () => void {
    return this.#clock.after(
      beatMs,
      () => {
        this.#stopBeat = this.#scheduleBeat()
        for (const stream of this.#streams) stream.beat()
      },
      { background: true },
    )
  }

  #rest(): void {
    this.#stopBeat?.()
    this.#stopBeat = null
  }
}
