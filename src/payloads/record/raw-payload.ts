import type { RawHeaders } from '../../call/response-head.ts'

/** A copied body: all of it, or its beginning. */
export interface RawBody {
  /** Exactly as on the wire, before any transfer coding. */
  readonly bytes: Buffer
  /** The length of the whole body on the wire. */
  readonly totalBytes: number
  /** True if `bytes` are only the beginning. */
  readonly truncated: boolean
}

/** The client's request. */
export interface RawRequest extends RawBody {
  readonly callId: number
  /** When the payload was whole, in ms since the Unix epoch. */
  readonly wallTimeMs: number
  readonly method: string
  /** With its query, as the client sent it. */
  readonly path: string
  /** Name, value, name, value …, as they came. */
  readonly headers: RawHeaders
  readonly model: string | null
  readonly stream: boolean
}

/** The answer that the client got. */
export interface RawAnswer extends RawRequest {
  /** Null if no answer was sent. */
  readonly status: number | null
  /** As in the call's row. */
  readonly outcome: string
  readonly failureCode: string | null
  readonly durationMs: number
  /** When each chunk was sent, in ms since the call's head was received; of event streams only. */
  readonly chunkOffsetsMs: readonly number[]
}
