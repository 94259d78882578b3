import type { ProcessStatus } from './process-status.ts'

/** What `GET /api/events?topics=…` can tell of. */
export type EventTopic = 'gateway' | 'log'

/** Lines that were added to the gateway's log. */
export interface LogLines {
  readonly lines: readonly string[]
  /** Whether these are the last lines there are, in place of all that was told before. */
  readonly reset: boolean
}

/** The data of each event, by its topic, which is the event's name. */
export interface EventData {
  /** At first, and whenever it has changed. */
  readonly gateway: ProcessStatus
  readonly log: LogLines
}
