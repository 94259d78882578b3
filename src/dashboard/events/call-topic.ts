import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import type { EndedAnswer } from '../../query/answer-question.ts'
import { ListenedPoll } from './listened-poll.ts'
import type { QuerySource } from '../routes/query-source.ts'
import type { Topic, TopicReader } from './topic.ts'

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
  readonly #poll: ListenedPoll
  readonly #readers = new Map<TopicReader, Missed>()
  /** Null until it is known where to begin. */
  #lastSeq: number | null = null

  constructor(queries: QuerySource, clock: Clock, onFault: (error: unknown) => void) {
    this.#queries = queries
    this.#poll = new ListenedPoll({
      clock,
      look: () => this.#look(),
      hasListeners: () => this.#readers.size > 0,
      // Whoever comes next begins anew.
      onRest: () => {
        this.#lastSeq = null
      },
      onFault,
    })
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, { count: 0, waiting: false })
    this.#poll.start()
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#poll.rest()
    }
  }

  async #look(): Promise<void> {
    const outcome = await this.#queries.ask({ kind: 'ended', afterSeq: this.#lastSeq })
    // A process that is too busy, or being started anew, is asked again: nothing is lost by that.
    if (outcome.kind !== 'answer') return
    this.#tell(JSON.parse(Buffer.from(outcome.body).toString()) as EndedAnswer)
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
}
