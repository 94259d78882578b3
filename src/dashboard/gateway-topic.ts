import type { EventTopic } from '../api/dashboard-event.ts'
import type { ProcessStatus } from '../api/process-status.ts'
import type { Clock } from '../call/clock.ts'
import type { GatewayProcess } from '../supervisor/gateway-process.ts'
import type { Topic, TopicReader } from './topic.ts'

const pollMs = 1000

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
  readonly #clock: Clock
  readonly #onFault: (error: unknown) => void
  readonly #readers = new Map<TopicReader, Told>()
  #known: Known | null = null
  #polling = false
  /** Whether to poll again as soon as the poll under way is over, which may have looked too early. */
  #again = false
  #cancelNext: (() => void) | null = null

  constructor(process: GatewayProcess, clock: Clock, onFault: (error: unknown) => void) {
    this.#process = process
    this.#clock = clock
    this.#onFault = onFault
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, { key: null, waiting: false })
    if (this.#known === null) this.refresh()
    else this.#tell(reader)
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#rest()
    }
  }

  /** Looks at once, for those who listen: something was just done to the gateway. */
  refresh(): void {
    if (this.#readers.size === 0) return
    if (this.#polling) this.#again = true
    else void this.#poll()
  }

  async #poll(): Promise<void> {
    this.#cancelNext?.()
    this.#cancelNext = null
    this.#polling = true
    try {
      do {
        this.#again = false
        const status = await this.#process.status()
        this.#known = { status, key: keyOf(status) }
        for (const reader of this.#readers.keys()) this.#tell(reader)
      } while (this.#again && this.#readers.size > 0)
    } catch (error) {
      this.#onFault(error)
    } finally {
      this.#polling = false
    }
    if (this.#readers.size === 0) this.#rest()
    else this.#cancelNext = this.#clock.after(pollMs, () => void this.#poll(), { background: true })
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

  /** What was known is old by the time the next reader comes. */
  #rest(): void {
    this.#cancelNext?.()
    this.#cancelNext = null
    this.#known = null
  }
}

/** All but the time that goes by. */
function keyOf(status: ProcessStatus): string {
  return JSON.stringify(status, (name, value: unknown) => (name === 'uptime_s' ? undefined : value))
}
