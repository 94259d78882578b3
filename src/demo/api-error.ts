/** What the simulated upstream refuses, in the shape that OpenAI's clients know. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  /** Seconds, for `Retry-After`. */
  readonly retryAfterS: number | null

  constructor(
    status: number,
    message: string,
    details: { type?: string; param?: string; code?: string; retryAfterS?: number } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.type = details.type ?? 'invalid_request_error'
    this.param = details.param ?? null
    this.code = details.code ?? null
    this.retryAfterS = details.retryAfterS ?? null
  }

  get body(): unknown {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}
