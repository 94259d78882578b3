import type { EventSourceMessage } from 'eventsource-parser'
import type { EventData } from '../../api/dashboard-event.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { isFeedNote } from '../../supervisor/feed-events.ts'
import type { RawLogSource } from '../routes/raw-log-source.ts'
import { cutPayload } from './cut-payload.ts'
import { type Missed, ReadTopic } from './topic.ts'

/** The gateway's feed of payloads: one connection for all who listen. What a reader misses is counted in records. */
export class PayloadTopic extends ReadTopic {
  readonly name = 'payloads' as const
  readonly #source: RawLogSource
  /** The last event that said if there is a feed; null until that is known. */
  #connection: string | null = null
  #stop: (() => void) | undefined

  constructor(source: RawLogSource) {
    super()
    this.#source = source
  }

  protected override begin(): void {
    this.#connection = null
    this.#stop = this.#source.follow({
      event: (event) => this.#onEvent(event),
      lost: () => this.#connect({ type: 'disconnected' }),
    })
  }

  protected override rest(): void {
    this.#stop?.()
  }

  protected override current(missed: Missed): readonly string[] {
    const dropped: EventData['payloads'] = { type: 'dropped', count: missed }
    const texts = [this.#connection, missed === 0 ? null : JSON.stringify(dropped)]
    return texts.filter((json) => json !== null)
  }

  #onEvent({ id, data }: EventSourceMessage): void {
    // Records alone have an id; they may be long, and are not looked into unless they have to be.
    if (id !== undefined) {
      this.tell(cutPayload(data), 1)
      return
    }
    const event = readMessage(data, isFeedNote)
    if (event?.type === 'connected') this.#connect(event)
    else if (event !== null) this.tell(data, event.type === 'dropped' ? event.count : 0)
  }

  #connect(event: EventData['payloads']): void {
    this.#connection = JSON.stringify(event)
    this.tell(this.#connection)
  }
}
