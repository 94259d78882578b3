import type { EventData } from '../../api/dashboard-event.ts'
import type { JobStarter } from '../../supervisor/database-jobs.ts'
import { ReadTopic } from './topic.ts'

/** The last jobs on the database. */
export class JobTopic extends ReadTopic {
  readonly name = 'jobs' as const
  readonly #jobs: JobStarter
  #unwatch: (() => void) | undefined

  constructor(jobs: JobStarter) {
    super()
    this.#jobs = jobs
  }

  protected override begin(): void {
    this.#unwatch = this.#jobs.watch(() => this.tell(this.#state()))
  }

  protected override rest(): void {
    this.#unwatch?.()
  }

  protected override current(): readonly string[] {
    return [this.#state()]
  }

  #state(): string {
    const data: EventData['jobs'] = { compress: this.#jobs.last, reprice: this.#jobs.lastReprice }
    return JSON.stringify(data)
  }
}
