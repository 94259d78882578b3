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

/** The request or the answer of a call: a line of the raw log, and an event of its feed. */
export const PayloadRecord = v.object({
  /** The call's id, as in `x-tokenweir-call-id` and `/api/query`. */
  id: v.string(),
  /** The record's number, which rises, also over restarts; the feed's event id. */
  seq: v.number(),
  /** When the payload was complete: ISO 8601, UTC. */
  timestamp: v.string(),
  /** `incoming`: the client's request; `outgoing`: the answer that it got. */
  direction: v.picklist(['incoming', 'outgoing']),
  method: v.string(),
  /** Path and query as the client sent them, without credentials. */
  path: v.string(),
  /** Status of the answer; null if none was sent, and for a request. */
  status: v.nullable(v.number()),
  /** Names in lower case; a repeated header has all its values. */
  headers: v.record(v.string(), v.union([v.string(), v.array(v.string())])),
  /** The body as JSON, else as text, else as base64. Null without a body, or if it is withheld. */
  body: v.unknown(),
  body_encoding: v.exactOptional(v.literal('base64')),
  /** Why the body is withheld. */
  body_withheld: v.exactOptional(v.string()),
  /** Bytes of the whole body on the wire. */
  body_bytes: v.number(),
  /** True if `body` is only its beginning. */
  truncated: v.boolean(),
  /** The model of the request; null if it names none or is not JSON. */
  model: v.nullable(v.string()),
  /** True if the request asked for a stream. */
  stream: v.boolean(),
})

export type PayloadRecord = Infer<typeof PayloadRecord>

/** The answer of a call. */
export const OutgoingRecord = v.object({
  ...PayloadRecord.entries,
  direction: v.literal('outgoing'),
  /** The outcome, as in the call's row. */
  outcome: v.string(),
  failure_code: v.nullable(v.string()),
  /** From the head received to the last byte handed to the client. */
  duration_ms: v.number(),
  /** Arrival of each piece of an event stream, in ms since the call's head was received; at most 10,000. */
  chunks: v.exactOptional(v.array(v.number())),
  /** Text of a stream, put together from its events; null if the events have none. */
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

/** Reports how many records were not sent to this reader. */
export const FeedDropped = v.object({ type: v.literal('dropped'), count: v.number() })

/** The data of the feed's events; a record has no `type`. */
export const RawLogEvent = v.union([PayloadRecord, OutgoingRecord, FeedConnected, CallStarted, FeedDropped])

export type RawLogEvent = Infer<typeof RawLogEvent>

/** The answer of `GET /v1/raw-log/status`. */
export const RawLogStatus = v.object({
  enabled: v.boolean(),
  /** When logging switches itself off: ISO 8601, UTC; null if it does not. */
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
