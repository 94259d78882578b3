import type { EventSourceMessage } from 'eventsource-parser'
import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { isFeedNote } from '../../supervisor/feed-events.ts'
import { cutPayload } from './cut-payload.ts'
import type { RawLogSource } from '../routes/raw-log-source.ts'
import type { Topic, TopicReader } from './topic.ts'

/** What a reader has missed because it was behind. */
interface Missed {
  /** Records; null where some were lost that nobody counted. */
  count: number | null
  waiting: boolean
}

/**
 * The gateway's feed of payloads, for those who listen: one connection for all of them, none while nobody listens. A
 * reader that is behind loses events, and is told how many of them were records.
 */
export class PayloadTopic implements Topic {
  readonly name: EventTopic = 'payloads'
  readonly #source: RawLogSource
  readonly #readers = new Map<TopicReader, Missed>()
  /** Whether there is a feed, as it was last told; null until that is known. */
  #standing: string | null = null
  #stop: (() => void) | null = null

  constructor(source: RawLogSource) {
    this.#source = source
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, { count: 0, waiting: false })
    if (this.#standing !== null) reader.sendJson(this.#standing)
    this.#stop ??= this.#source.follow({
      event: (event) => this.#onEvent(event),
      lost: () => this.#stand({ type: 'disconnected' }),
    })
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#rest()
    }
  }

  #onEvent({ id, data }: EventSourceMessage): void {
    // Records alone have an id; they may be long, and are not looked into unless they have to be.
    if (id !== undefined) {
      this.#tell(cutPayload(data), 1)
      return
    }
    const event = readMessage(data, isFeedNote)
    if (event === null) return
    if (event.type === 'connected') this.#stand(event)
    else this.#tell(data, event.type === 'dropped' ? event.count : 0)
  }

  #stand(event: EventData['payloads']): void {
    this.#standing = JSON.stringify(event)
    this.#tell(this.#standing, 0)
  }

  /** `worth`: how many records are missed where it is not told. */
  #tell(json: string, worth: number | null): void {
    for (const [reader, missed] of this.#readers) {
      if (missed.waiting || !reader.sendJson(json)) this.#miss(reader, missed, worth)
    }
  }

  #miss(reader: TopicReader, missed: Missed, worth: number | null): void {
    missed.count = missed.count === null || worth === null ? null : missed.count + worth
    if (missed.waiting) return
    missed.waiting = true
    reader.whenRoom(() => {
      missed.waiting = false
      if (this.#readers.has(reader)) this.#tellMissed(reader, missed)
    })
  }

  /** How things stand may be among what was missed. */
  #tellMissed(reader: TopicReader, missed: Missed): void {
    const dropped: EventData['payloads'] = { type: 'dropped', count: missed.count }
    const knowsStanding = this.#standing === null || reader.sendJson(this.#standing)
    if (knowsStanding && (missed.count === 0 || reader.send(dropped))) missed.count = 0
    else this.#miss(reader, missed, 0)
  }

  #rest(): void {
    this.#stop?.()
    this.#stop = null
    this.#standing = null
  }
}
