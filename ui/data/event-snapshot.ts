import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'

/** An event of any topic. */
export type TopicEvent = {
  readonly [Topic in EventTopic]: readonly [topic: Topic, data: EventData[Topic]]
}[EventTopic]

/** As many as a page keeps. */
const keptLines = 2000

/** What a newcomer has to be told, so that it knows what those know who have listened from the beginning. */
export class EventSnapshot {
  #gateway: EventData['gateway'] | null = null
  #jobs: EventData['jobs'] | null = null
  #log: readonly string[] | null = null

  take([topic, data]: TopicEvent): void {
    if (topic === 'gateway') this.#gateway = data
    else if (topic === 'jobs') this.#jobs = data
    else if (topic === 'log') {
      this.#log = [...(data.reset ? [] : (this.#log ?? [])), ...data.lines].slice(-keptLines)
    }
  }

  /** Calls are not among them: each is told once, to those who are there. */
  events(): readonly TopicEvent[] {
    const events: TopicEvent[] = []
    if (this.#gateway !== null) events.push(['gateway', this.#gateway])
    if (this.#jobs !== null) events.push(['jobs', this.#jobs])
    if (this.#log !== null) events.push(['log', { lines: this.#log, reset: true }])
    return events
  }
}
