import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { JobStarter } from '../../supervisor/database-jobs.ts'
import type { Topic, TopicReader } from './topic.ts'

/** The last jobs on the database, for those who listen. A reader that is behind gets how things stand when it has caught up. */
export class JobTopic implements Topic {
  readonly name: EventTopic = 'jobs'
  readonly #jobs: JobStarter

  constructor(jobs: JobStarter) {
    this.#jobs = jobs
  }

  subscribe(reader: TopicReader): () => void {
    let isWaiting = false
    let hasLeft = false
    const tell = (): void => {
      if (isWaiting || hasLeft) return
      const data: EventData['jobs'] = { compress: this.#jobs.last, reprice: this.#jobs.lastReprice }
      if (reader.send(data)) return
      isWaiting = true
      reader.whenRoom(() => {
        isWaiting = false
        tell()
      })
    }
    const unwatch = this.#jobs.watch(tell)
    tell()
    return () => {
      hasLeft = true
      unwatch()
    }
  }
}
