import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import type { EndedAnswer } from '../../query/answer-question.ts'
import type { QuerySource } from '../routes/query-source.ts'
import { Poll } from './poll.ts'
import { type Missed, ReadTopic } from './topic.ts'

/** Calls as they are recorded: one question a second for all who listen. */
export class CallTopic extends ReadTopic {
  readonly name = 'calls' as const
  readonly #queries: QuerySource
  readonly #poll: Poll
  /** Null until the newest call is known, behind which it begins. */
  #lastSeq: number | null = null

  constructor(queries: QuerySource, clock: Clock, onFault: (error: unknown) => void) {
    super()
    this.#queries = queries
    this.#poll = new Poll({ clock, look: () => this.#look(), onFault })
  }

  protected override begin(): void {
    this.#lastSeq = null
    this.#poll.start()
  }

  protected override rest(): void {
    this.#poll.stop()
  }

  protected override current(missed: Missed): readonly string[] {
    const data: EventData['calls'] = { calls: [], skipped: missed ?? 0 }
    return data.skipped === 0 ? [] : [JSON.stringify(data)]
  }

  async #look(): Promise<void> {
    const outcome = await this.#queries.ask({ kind: 'ended', afterSeq: this.#lastSeq })
    // A process that is too busy, or being started anew, is asked again: nothing is lost by that.
    if (outcome.kind !== 'answer') return
    const { calls, skipped, last_seq } = JSON.parse(Buffer.from(outcome.body).toString()) as EndedAnswer
    this.#lastSeq = last_seq
    const count = calls.length + skipped
    const data: EventData['calls'] = { calls, skipped }
    if (count > 0) this.tell(JSON.stringify(data), count)
  }
}
