import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import type { EndedAnswer } from '../../query/answer-question.ts'
import { startPoll } from '../../lib/poll.ts'
import type { QuerySource } from '../routes/dashboard-deps.ts'
import { Topic } from './topic.ts'

/** Calls as they are recorded: one question a second for all who listen. */
export function callTopic(queries: QuerySource, clock: Clock, onFault: (error: unknown) => void): Topic {
  return new Topic('calls', (send) => {
    /** Null until the newest call is known, behind which it begins. */
    let lastSeq: number | null = null
    const read = () => queries.ask({ kind: 'ended', afterSeq: lastSeq })
    const poll = startPoll({ clock, everyMs: 1000, read, onFault }, (outcome) => {
      // A process that is busy or restarts is asked again at the next poll; no call is lost.
      if (outcome.kind !== 'answer') return
      const answer = JSON.parse(Buffer.from(outcome.body).toString()) as EndedAnswer & { store?: string }
      // Nothing could be read, which is no new database.
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
