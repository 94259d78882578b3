import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import { type PollOptions, startPoll } from '../../supervisor/poll.ts'
import { Topic } from './topic.ts'

export interface StateTopicOptions<Name extends EventTopic> extends Omit<
  PollOptions<EventData[Name] | null>,
  'everyMs'
> {
  readonly name: Name
  /** Null if nobody knows: what was told last then stands. */
  readonly look: () => Promise<EventData[Name] | null>
  /** The member that is no part of the state: the time that goes by. */
  readonly passing?: string
}

/** A state as it changes: one poll for all who listen. */
export function stateTopic<Name extends EventTopic>(options: StateTopicOptions<Name>): Topic {
  return new Topic(options.name, (tell) => {
    /** Equal for equal states. */
    let key: string | null = null
    let last: string | null = null
    const poll = startPoll({ ...options, everyMs: 1000 }, (state) => {
      if (state === null) return
      const previousKey = key
      key = JSON.stringify(state, (name, value: unknown) => (name === options.passing ? undefined : value))
      last = JSON.stringify(state)
      if (key !== previousKey) tell(last)
    })
    return { ...poll, current: () => (last === null ? [] : [last]) }
  })
}
