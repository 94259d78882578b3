import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import type { Topic, TopicReader } from './topic.ts'

const everyMs = 15_000

/**
 * Nothing but that the stream is alive. A page sees no comments, and of a connection whose other end is gone, as
 * after a night's sleep, nobody tells it.
 */
export class BeatTopic implements Topic {
  readonly name: EventTopic = 'beat'
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  subscribe(reader: TopicReader): () => void {
    const beat: EventData['beat'] = { every_ms: everyMs }
    let cancel: (() => void) | undefined
    const send = (): void => {
      // A reader that is behind hears from us anyway.
      reader.send(beat)
      cancel = this.#clock.after(everyMs, send, { background: true })
    }
    send()
    return () => cancel?.()
  }
}
