import type { ActiveAlert } from './alerts.ts'
import type { RepriceJob } from './costs.ts'
import type { DatabaseJob } from './database-job.ts'
import type { LiveCalls } from './live-calls.ts'
import type { ProcessStatus } from './process-status.ts'
import type { RawLogEvent } from './raw-log.ts'

/** What `GET /api/events?topics=…` can tell of. */
export type EventTopic = 'gateway' | 'log' | 'calls' | 'live' | 'jobs' | 'beat' | 'payloads' | 'alerts'

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

/**
 * What the gateway's feed of payloads brings, and whether there is one. Of a record whose JSON is longer than 64 kB
 * `body` is the beginning of the body's text, whatever it was, as `truncated` says, and so are `text`, `reasoning` and
 * the arguments of `tool_calls`; `/api/calls/{id}/payloads` has all of it where it is logged.
 */
export type PayloadEvent =
  | RawLogEvent
  /** There is no feed: the gateway does not run, or is being restarted. `connected` follows when there is one. */
  | { readonly type: 'disconnected' }

/** The data of each event, by its topic, which is the event's name. */
export interface EventData {
  /** At first, and whenever it has changed. */
  readonly gateway: ProcessStatus
  readonly log: LogLines
  readonly calls: NewCalls
  /** At first, and whenever it has changed: at most once a second, and when a call was cancelled. */
  readonly live: LiveCalls
  /** At first, and whenever a job has come further; null where none was begun on this dashboard. */
  readonly jobs: { readonly compress: DatabaseJob | null; readonly reprice?: RepriceJob | null }
  /** At once, and then so often: a stream that is silent for longer is broken. */
  readonly beat: { readonly every_ms: number }
  /** At first, whether there is a feed; then each event of it. */
  readonly payloads: PayloadEvent
  /** What the alert rules say is so: at first, and whenever it has changed. */
  readonly alerts: readonly ActiveAlert[]
}
