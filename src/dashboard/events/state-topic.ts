import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import { type PollOptions, startPoll } from '../../supervisor/poll.ts'
import { Topic } from './topic.ts'

/** `look` answers null if nobody knows: what was told last then stands. */
type StatePoll<State> = Omit<PollOptions<State | null>, 'everyMs'>

/** A state as it changes: one poll for all who listen. Its member `passing`, the time that goes by, is no change. */
export function stateTopic<Name extends EventTopic>(
  name: Name,
  options: StatePoll<EventData[Name]>,
  passing?: string,
): Topic {
  return new Topic(name, (tell) => {
    /** Equal for equal states. */
    let key: string | null = null
    let last: string | null = null
    const poll = startPoll({ ...options, everyMs: 1000 }, (state) => {
      if (state === null) return
      const previousKey = key
      key = JSON.stringify(state, (member, value: unknown) => (member === passing ? undefined : value))
      last = JSON.stringify(state)
      if (key !== previousKey) tell(last)
    })
    return { ...poll, current: () => (last === null ? [] : [last]) }
  })
}
