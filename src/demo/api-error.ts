interface ApiErrorDetails {
  readonly type?: string
  readonly param?: string
  readonly code?: string
  /** Seconds, for `Retry-After`. */
  readonly retryAfterS?: number
}

/** What the simulated upstream refuses, in the shape that OpenAI's clients know. */
export class ApiError extends Error {
  readonly status: number
  readonly param: string | null
  readonly retryAfterS: number | null
  readonly body: object

  constructor(status: number, message: string, details: ApiErrorDetails = {}) {
    super(message)
    const { type = 'invalid_request_error', param = null, code = null, retryAfterS = null } = details
    this.name = 'ApiError'
    this.status = status
    this.param = param
    this.retryAfterS = retryAfterS
    this.body = { error: { message, type, param, code } }
  }
}
