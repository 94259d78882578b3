import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import { Poll } from './poll.ts'
import { ReadTopic } from './topic.ts'

export interface StateTopicOptions<Name extends EventTopic> {
  readonly name: Name
  readonly clock: Clock
  /** Null if nobody knows: what was told last then stands. */
  readonly look: () => Promise<EventData[Name] | null>
  /** The member that is no part of the state: the time that goes by. */
  readonly passing?: string
  readonly onFault: (error: unknown) => void
}

/** A state as it changes: one poll for all who listen. */
export class StateTopic<Name extends EventTopic> extends ReadTopic {
  readonly name: Name
  readonly #options: StateTopicOptions<Name>
  readonly #poll: Poll
  /** Equal for equal states. */
  #key: string | null = null
  #state: string | null = null

  constructor(options: StateTopicOptions<Name>) {
    super()
    this.name = options.name
    this.#options = options
    this.#poll = new Poll({ ...options, look: () => this.#look() })
  }

  /** Looks at once, for those who listen: something was just done to it. */
  refresh(): void {
    this.#poll.refresh()
  }

  protected override begin(): void {
    this.#key = null
    this.#state = null
    this.#poll.start()
  }

  protected override rest(): void {
    this.#poll.stop()
  }

  protected override current(): readonly string[] {
    return this.#state === null ? [] : [this.#state]
  }

  async #look(): Promise<void> {
    const { look, passing } = this.#options
    const state = await look()
    if (state === null) return
    const key = JSON.stringify(state, (name, value: unknown) => (name === passing ? undefined : value))
    this.#state = JSON.stringify(state)
    if (key !== this.#key) this.tell(this.#state)
    this.#key = key
  }
}
