import type { EventTopic } from '../api/dashboard-event.ts'
import type { ProcessStatus } from '../api/process-status.ts'
import type { Clock } from '../call/clock.ts'
import type { GatewayProcess } from '../supervisor/gateway-process.ts'
import { ListenedPoll } from './listened-poll.ts'
import type { Topic, TopicReader } from './topic.ts'

/** What one reader was told last, and whether it waits for room to be told more. */
interface Told {
  key: string | null
  waiting: boolean
}

interface Known {
  readonly status: ProcessStatus
  /** Equal for equal statuses. */
  readonly key: string
}

/**
 * The gateway's status, for those who listen: one poll for all of them, never two at a time, none while nobody
 * listens. A reader that is behind gets the newest status when it has caught up.
 */
export class GatewayTopic implements Topic {
  readonly name: EventTopic = 'gateway'
  readonly #process: GatewayProcess
  readonly #poll: ListenedPoll
  readonly #readers = new Map<TopicReader, Told>()
  #known: Known | null = null

  constructor(process: GatewayProcess, clock: Clock, onFault: (error: unknown) => void) {
    this.#process = process
    this.#poll = new ListenedPoll({
      clock,
      look: () => this.#look(),
      hasListeners: () => this.#readers.size > 0,
      onRest: () => {
        this.#known = null
      },
      onFault,
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

  /** Looks at once, for those who listen: something was just done to the gateway. */
  refresh(): void {
    if (this.#readers.size > 0) this.#poll.refresh()
  }

  async #look(): Promise<void> {
    const status = await this.#process.status()
    this.#known = { status, key: keyOf(status) }
    for (const reader of this.#readers.keys()) this.#tell(reader)
  }

  #tell(reader: TopicReader): void {
    const told = this.#readers.get(reader)
    if (told === undefined || this.#known === null || told.waiting || told.key === this.#known.key) return
    if (reader.send(this.#known.status)) {
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

/** All but the time that goes by. */
function keyOf(status: ProcessStatus): string {
  return JSON.stringify(status, (name, value: unknown) => (name === 'uptime_s' ? undefined : value))
}
