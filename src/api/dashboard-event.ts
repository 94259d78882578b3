import * as v from 'valibot'
import { ActiveAlert, AlertSetting } from './alerts.ts'
import { RepriceJob, DatabaseJob } from './database-job.ts'
import { LiveCalls } from './live-calls.ts'
import { ProcessStatus } from './process-status.ts'
import { RawLogEvent } from './raw-log.ts'
import type { Infer } from '../call/infer.ts'

/** The topics of `GET /api/events?topics=…`. */
export type EventTopic = keyof EventData

/** Lines that were added to the gateway's log. */
export const LogLines = v.object({
  lines: v.array(v.string()),
  /** True if these lines replace all earlier ones. */
  reset: v.boolean(),
})

export type LogLines = Infer<typeof LogLines>

/** Calls that were recorded since the last event. */
export const NewCalls = v.object({
  /** At most a hundred calls, newest last, as in `/api/query`. */
  calls: v.array(v.object({ id: v.string(), started_at: v.string() })),
  /** Number of earlier calls that were left out. */
  skipped: v.number(),
})

export type NewCalls = Infer<typeof NewCalls>

/**
 * An event of the gateway's payload feed, or the loss of the feed. A record whose JSON is longer than 64 kB
 * is cut: `truncated` is true, and `body`, `text`, `reasoning` and the arguments of `tool_calls` have only
 * their beginning. `/api/calls/{id}/payloads` has the whole record if payloads are logged.
 */
export const PayloadEvent = v.union([RawLogEvent, v.object({ type: v.literal('disconnected') })])

export type PayloadEvent = Infer<typeof PayloadEvent>

/** The data of each event, by its topic, which is the event's name. */
export const EventData = v.object({
  /** Sent at first and after each change. */
  gateway: ProcessStatus,
  log: LogLines,
  calls: NewCalls,
  /** Sent at first and after each change, at most once a second; at once after a cancelled call. */
  live: LiveCalls,
  /** Sent at first and whenever a job has progressed; null if no such job was started on this dashboard. */
  jobs: v.object({ compress: v.nullable(DatabaseJob), reprice: v.exactOptional(v.nullable(RepriceJob)) }),
  /** Sent at once, then every `every_ms` milliseconds. A stream that is silent for longer is broken. */
  beat: v.object({ every_ms: v.number() }),
  /** First whether there is a feed, then each event of the feed. */
  payloads: PayloadEvent,
  /** The active alerts: at first, and after each change. */
  alerts: v.array(ActiveAlert),
  /** The settings of the alert rules by their codes: at first, and after each change. */
  alert_rules: v.record(v.string(), AlertSetting),
})

export type EventData = Infer<typeof EventData>
