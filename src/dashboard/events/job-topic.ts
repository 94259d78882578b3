import type { JobStarter } from '../../supervisor/jobs.ts'
import { Topic } from './topic.ts'

/** The last jobs on the database. */
export function jobTopic(jobs: JobStarter): Topic {
  const state = (): string => JSON.stringify(jobs.last)
  return new Topic('jobs', (tell) => ({ current: () => [state()], stop: jobs.watch(() => tell(state())) }))
}
