/** The side at fault. */
export type FailureSide = 'client' | 'gateway' | 'upstream'

/** The fixed properties of a failure code. */
export interface FailureKind {
  readonly side: FailureSide
  /** Status of the gateway's own answer; `null` if the gateway never answers this failure itself. */
  readonly status: number | null
  /** Value of the header `x-should-retry`; null if the status says enough. */
  readonly shouldRetry: boolean | null
  /** `error.type` of the OpenAI error shape. */
  readonly type: string
}

/** By code: side, status, type, and the value of `x-should-retry` if there is one. */
const table = {
  not_found: ['client', 404, 'invalid_request_error'],
  method_not_allowed: ['client', 405, 'invalid_request_error'],
  /** The client asked for another protocol. No call ends with this code. */
  upgrade_not_supported: ['client', 426, 'invalid_request_error'],
  invalid_request: ['client', 400, 'invalid_request_error'],
  /** A gateway's own route was requested by an untrusted client, or under an untrusted host name. */
  forbidden: ['client', 403, 'invalid_request_error'],
  body_too_large: ['client', 413, 'invalid_request_error'],
  /** The body cannot be decoded, so its model, and so its upstream, is unknown. */
  unreadable_body: ['client', 415, 'invalid_request_error'],
  loop_detected: ['client', 508, 'invalid_request_error', false],
  queue_full: ['gateway', 503, 'server_error'],
  queue_timeout: ['gateway', 503, 'server_error'],
  buffers_full: ['gateway', 503, 'server_error'],
  draining: ['gateway', 503, 'server_error'],
  /** Answer to a reader of the payload feed. No call ends with this code. */
  too_many_readers: ['gateway', 503, 'server_error'],
  /** Answer to Prometheus. No call ends with this code. */
  metrics_late: ['gateway', 503, 'server_error'],
  /** A retry would only be refused again. */
  token_budget_exceeded: ['gateway', 429, 'insufficient_quota', false],
  /** The budget of one client or key is used up. */
  client_budget_exceeded: ['gateway', 429, 'insufficient_quota', false],
  /** The budget of one upstream is used up. */
  upstream_budget_exceeded: ['gateway', 429, 'insufficient_quota', false],
  /** The use before the start cannot be read, so the budget is unknown. */
  budget_unknown: ['gateway', 503, 'server_error'],
  /** The database of shared slots is unreachable, and this gateway's lease on its slots has ended. */
  limit_unreachable: ['gateway', 503, 'server_error'],
  /** A person cancelled the call. A retry would undo that. */
  cancelled: ['gateway', 503, 'server_error', false],
  internal_error: ['gateway', 500, 'server_error'],
  upstream_unreachable: ['upstream', 502, 'upstream_error'],
  upstream_protocol_error: ['upstream', 502, 'upstream_error'],
  upstream_timeout: ['upstream', 504, 'upstream_error'],
  /** The upstream's own status of 400 and above, passed on. */
  upstream_http: ['upstream', null, 'upstream_error'],
  /** An error inside an HTTP 200. */
  stream_error: ['upstream', null, 'upstream_error'],
  /** A complete HTTP 200 with no answer in it: no body, no choices, or an end mark alone. */
  empty_answer: ['upstream', null, 'upstream_error'],
  /** A complete HTTP message whose stream lacks its end mark, or whose JSON is not closed. */
  stream_truncated: ['upstream', null, 'upstream_error'],
  /** The answer reports more tokens, or a higher cost, than one call can have used. The call itself did not fail. */
  implausible_usage: ['upstream', null, 'upstream_error'],
  /** The connection broke before the HTTP message was complete. */
  upstream_reset: ['upstream', null, 'upstream_error'],
  /** The client left. */
  client_gone: ['client', null, 'client_error'],
  /** The client accepted no byte, or sent no byte of an upload, for too long. */
  client_stalled: ['client', null, 'client_error'],
} as const

export type FailureCode = keyof typeof table

/** Every way in which a call can fail. Each code has its heading in `docs/errors.md`. */
export const failureKinds: Readonly<Record<FailureCode, FailureKind>> = Object.fromEntries(
  Object.entries(table).map(([code, [side, status, type, shouldRetry = null]]) => [
    code,
    { side, status, type, shouldRetry },
  ]),
) as Record<FailureCode, FailureKind>

/** A failure with its code, and so its side and status. The message goes to the client. */
export class Failure extends Error {
  readonly code: FailureCode
  /** Value of `Retry-After` in seconds; null for no header. */
  readonly retryAfterS: number | null
  /** Further headers of the gateway's answer: name, value, name, value … */
  readonly headers: readonly string[]
  readonly kind: FailureKind
  readonly shouldRetry: boolean | null

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
    this.kind = failureKinds[code]
    this.shouldRetry = options.shouldRetry ?? this.kind.shouldRetry
  }
}
