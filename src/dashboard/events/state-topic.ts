import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { JobStarter } from '../../supervisor/jobs.ts'
import { type PollOptions, startPoll } from '../../lib/poll.ts'
import { Topic } from './topic.ts'

/**
 * A state as it changes, with one poll for all readers. If `read` returns null, the state is unknown, and the
 * last one stays. A change of only the member `passing`, such as a running time, is not sent.
 */
export function stateTopic<Name extends EventTopic>(
  name: Name,
  options: Omit<PollOptions<EventData[Name] | null>, 'everyMs'>,
  passing?: string,
): Topic {
  return new Topic(name, (send) => {
    /** The JSON of the last state without `passing`; null before the first state. */
    let key: string | null = null
    let last: string | null = null
    const poll = startPoll({ ...options, everyMs: 1000 }, (state) => {
      if (state === null) return
      const previousKey = key
      key = JSON.stringify(state, (member, value: unknown) => (member === passing ? undefined : value))
      last = JSON.stringify(state)
      if (key !== previousKey) send(last)
    })
    return { ...poll, current: () => (last === null ? [] : [last]) }
  })
}

/** The last jobs on the database. */
export function jobTopic(jobs: JobStarter): Topic {
  const state = (): string => JSON.stringify(jobs.last)
  return new Topic('jobs', (send) => ({ current: () => [state()], stop: jobs.watch(() => send(state())) }))
}
