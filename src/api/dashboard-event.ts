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
  /** True if these are the last lines there are, in place of all that was told before. */
  reset: v.boolean(),
})

export type LogLines = Infer<typeof LogLines>

/** Calls that were recorded since the last event. */
export const NewCalls = v.object({
  /** The newest last, each as `/api/query` tells it; at most a hundred. */
  calls: v.array(v.object({ id: v.string(), started_at: v.string() })),
  /** How many came before these and are not told. */
  skipped: v.number(),
})

export type NewCalls = Infer<typeof NewCalls>

/**
 * An event of the gateway's payload feed, or the loss of the feed. In a record whose JSON is longer than 64 kB,
 * `body` is the beginning of the body's text, whatever it was, as `truncated` says, and so are `text`, `reasoning` and
 * the arguments of `tool_calls`; `/api/calls/{id}/payloads` has all of it where it is logged.
 */
export const PayloadEvent = v.union([RawLogEvent, v.object({ type: v.literal('disconnected') })])

export type PayloadEvent = Infer<typeof PayloadEvent>

/** The data of each event, by its topic, which is the event's name. */
export const EventData = v.object({
  /** At first, and whenever it has changed. */
  gateway: ProcessStatus,
  log: LogLines,
  calls: NewCalls,
  /** At first, and whenever it has changed: at most once a second, and when a call was cancelled. */
  live: LiveCalls,
  /** At first, and whenever a job has come further; null where none was begun on this dashboard. */
  jobs: v.object({ compress: v.nullable(DatabaseJob), reprice: v.exactOptional(v.nullable(RepriceJob)) }),
  /** At once, and then so often: a stream that is silent for longer is broken. */
  beat: v.object({ every_ms: v.number() }),
  /** At first, whether there is a feed; then each event of it. */
  payloads: PayloadEvent,
  /** The active alerts: at first, and after each change. */
  alerts: v.array(ActiveAlert),
  /** The settings of the alert rules by their codes: at first, and after each change. */
  alert_rules: v.record(v.string(), AlertSetting),
})

export type EventData = Infer<typeof EventData>
