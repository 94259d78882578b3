import type { RawHeaders } from '../../call/response-head.ts'

/** A body as far as it was kept: all of it, or its beginning. */
export interface RawBody {
  /** Exactly as on the wire, before any transfer coding. */
  readonly bytes: Buffer
  /** On the wire, all of it. */
  readonly totalBytes: number
  /** True if `bytes` are only its beginning, because no more was kept. */
  readonly truncated: boolean
}

/** The client's request. */
export interface RawRequest extends RawBody {
  readonly callId: number
  /** When it was whole, in ms since the Unix epoch. */
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
  /** Null where nothing was sent. */
  readonly status: number | null
  /** As the call's row has it. */
  readonly outcome: string
  readonly failureCode: string | null
  readonly durationMs: number
  /** When each piece came, in ms since the call's head was received; told of event streams only. */
  readonly chunkOffsetsMs: readonly number[]
}
