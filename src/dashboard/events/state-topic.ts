import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import { ListenedPoll } from './listened-poll.ts'
import type { Topic, TopicReader } from './topic.ts'

/** What one reader was told last, and whether it waits for room to be told more. */
interface Told {
  key: string | null
  waiting: boolean
}

export interface StateTopicOptions<Name extends EventTopic> {
  readonly name: Name
  readonly clock: Clock
  /** Null where nobody knows: what was told last then stands. */
  readonly look: () => Promise<EventData[Name] | null>
  /** Not part of the state: the time that goes by. */
  readonly passing?: string
  readonly onFault: (error: unknown) => void
}

/**
 * A state as it changes, for those who listen: one poll for all of them, never two at a time, none while nobody
 * listens. A reader that is behind gets the newest state when it has caught up.
 */
export class StateTopic<Name extends EventTopic> implements Topic {
  readonly name: Name
  readonly #options: StateTopicOptions<Name>
  readonly #poll: ListenedPoll
  readonly #readers = new Map<TopicReader, Told>()
  /** The key is equal for equal states. */
  #known: { readonly state: EventData[Name]; readonly key: string } | null = null

  constructor(options: StateTopicOptions<Name>) {
    this.name = options.name
    this.#options = options
    this.#poll = new ListenedPoll({
      clock: options.clock,
      look: () => this.#look(),
      hasListeners: () => this.#readers.size > 0,
      onRest: () => {
        this.#known = null
      },
      onFault: options.onFault,
    })
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, { key: null, waiting: false })
    if (this.#known === null) this.refresh()
    else this.#tell(reader)
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#poll.rest()
    }
  }

  /** Looks at once, for those who listen: something was just done to it. */
  refresh(): void {
    if (this.#readers.size > 0) this.#poll.refresh()
  }

  async #look(): Promise<void> {
    const { look, passing } = this.#options
    const state = await look()
    if (state === null) return
    const key = JSON.stringify(state, (name, value: unknown) => (name === passing ? undefined : value))
    this.#known = { state, key }
    for (const reader of this.#readers.keys()) this.#tell(reader)
  }

  #tell(reader: TopicReader): void {
    const told = this.#readers.get(reader)
    if (told === undefined || this.#known === null || told.waiting || told.key === this.#known.key) return
    if (reader.send(this.#known.state)) {
      told.key = this.#known.key
      return
    }
    told.waiting = true
    reader.whenRoom(() => {
      told.waiting = false
      this.#tell(reader)
    })
  }
}
