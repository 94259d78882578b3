import type { RecordFields } from './call-fields.ts'

/** What a call asks for. `other` is every forwarded path that fits none of the named kinds. */
export type CallType = RecordFields['callType']

/**
 * One client request on a forwarded path, as far as it is known when its head has been read.
 * Everything that is learnt later (model, usage, outcome) stands in the {@link CallRecord}.
 */
export interface Call {
  /** See `call-id.ts`: milliseconds since the Unix epoch × 4096 + instance bits + counter. */
  readonly id: number
  readonly type: CallType
  /** Path without query, byte for byte as the client sent it. */
  readonly endpoint: string
  readonly method: string
  /** The client's label: `x-tokenweir-client`, else the product of its user agent. */
  readonly client: string | null
  readonly userAgent: string | null
  /** `x-tokenweir-session`. */
  readonly session: string | null
  /** 8 hexadecimal digits of a salted hash of the credential; never the credential. */
  readonly keyFingerprint: string | null
  /** `x-stainless-retry-count`: 0 for a first try, n for the client's own nth retry. */
  readonly clientRetry: number | null
}

/** What the gateway notes of a call before the upstream can see it, so that no call is without a trace. */
export interface CallStart extends Call {
  readonly model: string | null
  readonly stream: boolean
  /** Host (and port, where it is not the scheme's own) of the upstream. */
  readonly upstream: string
  readonly requestBytes: number
}
