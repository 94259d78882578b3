/** Part of a tool call as the upstream named it, put together from the pieces of a stream. */
export interface PayloadToolCall {
  readonly id: string | null
  readonly name: string | null
  /** As the model wrote them; JSON as a rule. */
  readonly arguments: string
}

/** What went over the wire in one direction of one call: a line of the raw log, and an event of its feed. */
export interface PayloadRecord {
  /** The call's, as `x-tokenweir-call-id` and `/api/query` have it. */
  readonly id: string
  /** Rises from record to record, over restarts too; the feed's event id. */
  readonly seq: number
  /** When it was whole; ISO 8601, UTC. */
  readonly timestamp: string
  /** `incoming`: the client's request; `outgoing`: the answer that it got. */
  readonly direction: 'incoming' | 'outgoing'
  readonly method: string
  /** With its query, as the client sent it, but for credentials. */
  readonly path: string
  /** The answer's; null where none was sent, and in a request. */
  readonly status: number | null
  /** Names in lower case; a repeated header has all its values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** JSON where it is JSON, else text; base64 where it is neither. Null where there was none, or it is withheld. */
  readonly body: unknown
  readonly body_encoding?: 'base64'
  /** Why a body that was there is not here. */
  readonly body_withheld?: string
  /** On the wire, all of it. */
  readonly body_bytes: number
  /** Whether `body` is only its beginning. */
  readonly truncated: boolean
  /** As the request names it; null where it names none, or is not JSON. */
  readonly model: string | null
  /** Whether the request asked for a stream. */
  readonly stream: boolean
}

/** The answer of a call. */
export interface OutgoingRecord extends PayloadRecord {
  readonly direction: 'outgoing'
  /** As the call's row has it. */
  readonly outcome: string
  readonly failure_code: string | null
  /** Head received → last byte to the client. */
  readonly duration_ms: number
  /** Of an event stream: when each piece came, in ms since the call's head was received; 10,000 at most. */
  readonly chunks?: readonly number[]
  /** Put together from the events of a stream; null where there was nothing of the kind. */
  readonly text?: string | null
  readonly reasoning?: string | null
  readonly tool_calls?: readonly PayloadToolCall[]
}

/** The data of the feed's events; a record has no `type`. */
export type RawLogEvent =
  | PayloadRecord
  | OutgoingRecord
  | { readonly type: 'connected'; readonly enabled: boolean }
  | CallStarted
  /** A number of records were not sent to this reader. */
  | { readonly type: 'dropped'; readonly count: number }

/** A call begins: its head was received. */
export interface CallStarted {
  readonly type: 'started'
  readonly id: string
  readonly timestamp: string
  readonly method: string
  readonly path: string
}

/** The answer of `GET /v1/raw-log/status`. */
export interface RawLogStatus {
  readonly enabled: boolean
  /** When it switches itself off; ISO 8601, UTC; null where it does not. */
  readonly enabled_until: string | null
  /** What reaches the file: `all`, `errors` or `sample:<1/n>`. */
  readonly capture: string
  readonly file_path: string
  /** Of all segments together. */
  readonly file_size_bytes: number
  readonly file_size_formatted: string
  readonly subscribers_count: number
  /** Records that could not be kept since the start, as too many were waiting. */
  readonly dropped: number
  /** Why it switched itself off; null where it did not. */
  readonly trouble: string | null
}

/** The answer of `POST /v1/raw-log/toggle`. */
export interface RawLogSwitched extends Pick<
  RawLogStatus,
  'enabled' | 'enabled_until' | 'file_path' | 'file_size_bytes'
> {
  readonly success: true
}

/** The answer of `GET /v1/raw-log/recent`. */
export interface RecentPayloads {
  /** Newest first. */
  readonly entries: readonly (PayloadRecord | OutgoingRecord)[]
  /** Records in all segments. */
  readonly total_count: number
  /** Whether there are fewer than were asked for because the answer would be too large. */
  readonly truncated: boolean
}
