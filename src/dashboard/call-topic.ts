import type { EventData, EventTopic } from '../api/dashboard-event.ts'
import type { Clock } from '../call/clock.ts'
import type { EndedAnswer } from '../query/ended-answer.ts'
import type { QuerySource } from './query-source.ts'
import type { Topic, TopicReader } from './topic.ts'

const pollMs = 1000

/** What a reader has missed because it was behind. */
interface Missed {
  count: number
  waiting: boolean
}

/**
 * Calls as they are recorded, for those who listen: one question a second for all of them, never two at a time,
 * none while nobody listens. A reader that is behind is told how many it missed.
 */
export class CallTopic implements Topic {
  readonly name: EventTopic = 'calls'
  readonly #queries: QuerySource
  readonly #clock: Clock
  readonly #onFault: (error: unknown) => void
  readonly #readers = new Map<TopicReader, Missed>()
  /** Null until it is known where to begin. */
  #lastSeq: number | null = null
  #polling = false
  #cancelNext: (() => void) | null = null

  constructor(queries: QuerySource, clock: Clock, onFault: (error: unknown) => void) {
    this.#queries = queries
    this.#clock = clock
    this.#onFault = onFault
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, { count: 0, waiting: false })
    if (!this.#polling && this.#cancelNext === null) void this.#poll()
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#rest()
    }
  }

  async #poll(): Promise<void> {
    this.#cancelNext = null
    this.#polling = true
    try {
      const outcome = await this.#queries.ask({ kind: 'ended', afterSeq: this.#lastSeq })
      // A process that is too busy, or being started anew, is asked again: nothing is lost by that.
      if (outcome.kind === 'answer')
        this.#tell(JSON.parse(Buffer.from(outcome.body).toString()) as EndedAnswer)
    } catch (error) {
      this.#onFault(error)
    } finally {
      this.#polling = false
    }
    if (this.#readers.size === 0) this.#rest()
    else this.#cancelNext = this.#clock.after(pollMs, () => void this.#poll(), { background: true })
  }

  #tell({ calls, skipped, last_seq }: EndedAnswer): void {
    this.#lastSeq = last_seq
    if (calls.length + skipped === 0) return
    for (const [reader, missed] of this.#readers) {
      const data: EventData['calls'] = { calls, skipped: skipped + missed.count }
      if (!missed.waiting && reader.send(data)) missed.count = 0
      else this.#miss(reader, missed, calls.length + skipped)
    }
  }

  #miss(reader: TopicReader, missed: Missed, count: number): void {
    missed.count += count
    if (missed.waiting) return
    missed.waiting = true
    reader.whenRoom(() => {
      missed.waiting = false
      if (this.#readers.has(reader) && reader.send({ calls: [], skipped: missed.count })) missed.count = 0
      else if (this.#readers.has(reader)) this.#miss(reader, missed, 0)
    })
  }

  /** Whoever comes next begins anew. */
  #rest(): void {
    this.#cancelNext?.()
    this.#cancelNext = null
    this.#lastSeq = null
  }
}
