import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** Part of a tool call as the upstream named it, put together from the pieces of a stream. */
export const PayloadToolCall = v.object({
  id: v.nullable(v.string()),
  name: v.nullable(v.string()),
  /** The model's text, usually JSON. */
  arguments: v.string(),
})

export type PayloadToolCall = Infer<typeof PayloadToolCall>

/** One direction of one call: a line of the raw log, and an event of its feed. */
export const PayloadRecord = v.object({
  /** The call's id, as in `x-tokenweir-call-id` and `/api/query`. */
  id: v.string(),
  /** Rises from record to record, over restarts too; the feed's event id. */
  seq: v.number(),
  /** When it was whole; ISO 8601, UTC. */
  timestamp: v.string(),
  /** `incoming`: the client's request; `outgoing`: the answer that it got. */
  direction: v.picklist(['incoming', 'outgoing']),
  method: v.string(),
  /** With its query, as the client sent it, but for credentials. */
  path: v.string(),
  /** The answer's; null where none was sent, and in a request. */
  status: v.nullable(v.number()),
  /** Names in lower case; a repeated header has all its values. */
  headers: v.record(v.string(), v.union([v.string(), v.array(v.string())])),
  /** JSON where it is JSON, else text; base64 where it is neither. Null where there was none, or it is withheld. */
  body: v.unknown(),
  body_encoding: v.exactOptional(v.literal('base64')),
  /** Why a body that was there is not here. */
  body_withheld: v.exactOptional(v.string()),
  /** On the wire, all of it. */
  body_bytes: v.number(),
  /** True if `body` is only its beginning. */
  truncated: v.boolean(),
  /** The request's model; null where it names none or is not JSON. */
  model: v.nullable(v.string()),
  /** True if the request asked for a stream. */
  stream: v.boolean(),
})

export type PayloadRecord = Infer<typeof PayloadRecord>

/** The answer of a call. */
export const OutgoingRecord = v.object({
  ...PayloadRecord.entries,
  direction: v.literal('outgoing'),
  /** The outcome in the call's row. */
  outcome: v.string(),
  failure_code: v.nullable(v.string()),
  /** Head received → last byte to the client. */
  duration_ms: v.number(),
  /** Arrival of each piece of an event stream, in ms since the call's head was received; at most 10,000. */
  chunks: v.exactOptional(v.array(v.number())),
  /** Put together from the events of a stream; null where there was nothing of the kind. */
  text: v.exactOptional(v.nullable(v.string())),
  reasoning: v.exactOptional(v.nullable(v.string())),
  tool_calls: v.exactOptional(v.array(PayloadToolCall)),
})

export type OutgoingRecord = Infer<typeof OutgoingRecord>

/** A call begins: its head was received. */
export const CallStarted = v.object({
  type: v.literal('started'),
  id: v.string(),
  timestamp: v.string(),
  method: v.string(),
  path: v.string(),
})

export type CallStarted = Infer<typeof CallStarted>

/** The first event of the feed. `enabled`: payloads are logged. */
export const FeedConnected = v.object({ type: v.literal('connected'), enabled: v.boolean() })

/** A number of records were not sent to this reader. */
export const FeedDropped = v.object({ type: v.literal('dropped'), count: v.number() })

/** The data of the feed's events; a record has no `type`. */
export const RawLogEvent = v.union([PayloadRecord, OutgoingRecord, FeedConnected, CallStarted, FeedDropped])

export type RawLogEvent = Infer<typeof RawLogEvent>

/** The answer of `GET /v1/raw-log/status`. */
export const RawLogStatus = v.object({
  enabled: v.boolean(),
  /** When it switches itself off; ISO 8601, UTC; null where it does not. */
  enabled_until: v.nullable(v.string()),
  /** The rule for the file: `all`, `errors` or `sample:<1/n>`. */
  capture: v.string(),
  file_path: v.string(),
  /** Bytes of all segments together. */
  file_size_bytes: v.number(),
  file_size_formatted: v.string(),
  subscribers_count: v.number(),
  /** Records lost since the start because too many were waiting. */
  dropped: v.number(),
  /** Why logging switched itself off; null if it did not. */
  trouble: v.nullable(v.string()),
})

export type RawLogStatus = Infer<typeof RawLogStatus>

/** The answer of `POST /v1/raw-log/toggle`. */
export const RawLogSwitched = v.object({
  ...v.pick(RawLogStatus, ['enabled', 'enabled_until', 'file_path', 'file_size_bytes']).entries,
  success: v.literal(true),
})

export type RawLogSwitched = Infer<typeof RawLogSwitched>

/** The answer of `GET /v1/raw-log/recent`. */
export const RecentPayloads = v.object({
  /** Newest first. */
  entries: v.array(v.union([PayloadRecord, OutgoingRecord])),
  /** Records in all segments. */
  total_count: v.number(),
  /** True if the answer's size limit left records out. */
  truncated: v.boolean(),
})

export type RecentPayloads = Infer<typeof RecentPayloads>
