import type { RepriceJob } from './costs.ts'
import type { DatabaseJob } from './database-job.ts'
import type { ProcessStatus } from './process-status.ts'

/** What `GET /api/events?topics=…` can tell of. */
export type EventTopic = 'gateway' | 'log' | 'calls' | 'jobs' | 'beat'

/** Lines that were added to the gateway's log. */
export interface LogLines {
  readonly lines: readonly string[]
  /** Whether these are the last lines there are, in place of all that was told before. */
  readonly reset: boolean
}

/** Calls that were recorded since the last event. */
export interface NewCalls {
  /** The newest last, each as `/api/query` tells it; at most a hundred. */
  readonly calls: readonly { readonly id: string; readonly started_at: string }[]
  /** How many came before these and are not told. */
  readonly skipped: number
}

/** The data of each event, by its topic, which is the event's name. */
export interface EventData {
  /** At first, and whenever it has changed. */
  readonly gateway: ProcessStatus
  readonly log: LogLines
  readonly calls: NewCalls
  /** At first, and whenever a job has come further; null where none was begun on this dashboard. */
  readonly jobs: { readonly compress: DatabaseJob | null; readonly reprice?: RepriceJob | null }
  /** At once, and then so often: a stream that is silent for longer is broken. */
  readonly beat: { readonly every_ms: number }
}
