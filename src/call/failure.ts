/** Who is at fault. */
export type FailureSide = 'client' | 'gateway' | 'upstream'

export type FailureCode =
  | 'not_found'
  | 'method_not_allowed'
  | 'upgrade_not_supported'
  | 'invalid_request'
  | 'forbidden'
  | 'body_too_large'
  | 'loop_detected'
  | 'queue_full'
  | 'queue_timeout'
  | 'buffers_full'
  | 'draining'
  | 'too_many_readers'
  | 'token_budget_exceeded'
  | 'budget_unknown'
  | 'internal_error'
  | 'upstream_unreachable'
  | 'upstream_protocol_error'
  | 'upstream_timeout'
  | 'upstream_http'
  | 'stream_error'
  | 'stream_truncated'
  | 'upstream_reset'
  | 'client_gone'
  | 'client_stalled'

export interface FailureKind {
  readonly side: FailureSide
  /** The status that the gateway answers with where none was sent yet; `null` where it never answers itself. */
  readonly status: number | null
  /** The value of `x-should-retry`, where the gateway has an opinion that the status alone does not tell. */
  readonly shouldRetry: boolean | null
  /** `error.type` of the OpenAI error shape. */
  readonly type: string
}

function kind(
  side: FailureSide,
  status: number | null,
  type: string,
  shouldRetry: boolean | null = null,
): FailureKind {
  return { side, status, type, shouldRetry }
}

/** Every way in which a call can fail. Each code has its heading in `docs/errors.md`. */
export const failureKinds: Readonly<Record<FailureCode, FailureKind>> = {
  not_found: kind('client', 404, 'invalid_request_error'),
  method_not_allowed: kind('client', 405, 'invalid_request_error'),
  upgrade_not_supported: kind('client', 501, 'invalid_request_error'),
  invalid_request: kind('client', 400, 'invalid_request_error'),
  /** An own route asked for under a name, or from a place, that is not trusted. */
  forbidden: kind('client', 403, 'invalid_request_error'),
  body_too_large: kind('client', 413, 'invalid_request_error'),
  loop_detected: kind('client', 508, 'invalid_request_error', false),
  queue_full: kind('gateway', 503, 'server_error'),
  queue_timeout: kind('gateway', 503, 'server_error'),
  buffers_full: kind('gateway', 503, 'server_error'),
  draining: kind('gateway', 503, 'server_error'),
  /** Of the feed of payloads; no call ends so. */
  too_many_readers: kind('gateway', 503, 'server_error'),
  /** A library that tries again would only be refused again. */
  token_budget_exceeded: kind('gateway', 429, 'insufficient_quota', false),
  /** What was used before the start cannot be read, so nobody can say whether the budget allows a call. */
  budget_unknown: kind('gateway', 503, 'server_error'),
  internal_error: kind('gateway', 500, 'server_error'),
  upstream_unreachable: kind('upstream', 502, 'upstream_error'),
  upstream_protocol_error: kind('upstream', 502, 'upstream_error'),
  upstream_timeout: kind('upstream', 504, 'upstream_error'),
  /** The upstream's own status of 400 and above, passed on. */
  upstream_http: kind('upstream', null, 'upstream_error'),
  /** An error inside an HTTP 200. */
  stream_error: kind('upstream', null, 'upstream_error'),
  /** A complete HTTP message whose stream lacks its end mark. */
  stream_truncated: kind('upstream', null, 'upstream_error'),
  /** The connection broke before the HTTP message was complete. */
  upstream_reset: kind('upstream', null, 'upstream_error'),
  /** The client left. */
  client_gone: kind('client', null, 'client_error'),
  /** The client accepted no byte for too long. */
  client_stalled: kind('client', null, 'client_error'),
}

/** A failure that knows its code, and through it its side and status. The message is fit for the client's eyes. */
export class Failure extends Error {
  readonly code: FailureCode
  /** Seconds, for `Retry-After`. */
  readonly retryAfterS: number | null
  /** Further headers of the gateway's answer: name, value, name, value … */
  readonly headers: readonly string[]
  readonly #shouldRetry: boolean | null

  constructor(
    code: FailureCode,
    message: string,
    options: {
      cause?: unknown
      retryAfterS?: number
      shouldRetry?: boolean
      headers?: readonly string[]
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.retryAfterS = options.retryAfterS ?? null
    this.headers = options.headers ?? []
    this.#shouldRetry = options.shouldRetry ?? null
  }

  get kind(): FailureKind {
    return failureKinds[this.code]
  }

  get shouldRetry(): boolean | null {
    return this.#shouldRetry ?? this.kind.shouldRetry
  }
}
