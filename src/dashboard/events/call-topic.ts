import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import type { EndedAnswer } from '../../query/answer-question.ts'
import { startPoll } from '../../lib/poll.ts'
import type { QuerySource } from '../routes/dashboard-deps.ts'
import { Topic } from './topic.ts'

/** The topic of newly recorded calls. A single query per second serves all readers. */
export function callTopic(queries: QuerySource, clock: Clock, onFault: (error: unknown) => void): Topic {
  return new Topic('calls', (send) => {
    /** The `seq` of the last call that was sent; null until the newest call is known. */
    let lastSeq: number | null = null
    const read = () => queries.ask({ kind: 'ended', afterSeq: lastSeq })
    const poll = startPoll({ clock, everyMs: 1000, read, onFault }, (outcome) => {
      // If the query process is busy or restarts, the next poll asks again. No call is lost.
      if (outcome.kind !== 'answer') return
      const answer = JSON.parse(Buffer.from(outcome.body).toString()) as EndedAnswer & { store?: string }
      // The database was unreadable, so an answer without calls does not mean a new database.
      if (answer.store !== undefined && lastSeq !== null) return
      const { calls, skipped, last_seq } = answer
      lastSeq = last_seq
      const count = calls.length + skipped
      if (count > 0) send(textOf({ calls, skipped }), count)
    })
    const current = (skipped: number): readonly string[] =>
      skipped === 0 ? [] : [textOf({ calls: [], skipped })]
    return { ...poll, current }
  })
}

function textOf(data: EventData['calls']): string {
  return JSON.stringify(data)
}
