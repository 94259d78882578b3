import type { RawHeaders } from '../../call/response-head.ts'

/** A copied body: all of it, or its beginning. */
export interface RawBody {
  /** The bytes as on the wire, without transfer coding. */
  readonly bytes: Buffer
  /** The length of the whole body on the wire. */
  readonly totalBytes: number
  /** True if `bytes` are only the beginning. */
  readonly truncated: boolean
}

/** The client's request. */
export interface RawRequest extends RawBody {
  readonly callId: number
  /** When the payload was complete, in ms since the Unix epoch. */
  readonly wallTimeMs: number
  readonly method: string
  /** Path and query as the client sent them. */
  readonly path: string
  /** Headers as received: name, value, name, value … */
  readonly headers: RawHeaders
  readonly model: string | null
  readonly stream: boolean
}

/** The answer that the client got. */
export interface RawAnswer extends RawRequest {
  /** Null if no answer was sent. */
  readonly status: number | null
  /** The outcome, as in the call's row. */
  readonly outcome: string
  readonly failureCode: string | null
  readonly durationMs: number
  /** When each chunk was sent, in ms since the call's head was received; of event streams only. */
  readonly chunkOffsetsMs: readonly number[]
}
