/** What the simulated upstream refuses, in the shape that OpenAI's clients know. */
export class ApiError extends Error {
  readonly status: number
  readonly param: string | null
  readonly body: object
  /** For `Retry-After`. */
  readonly retryAfterS: number | null

  constructor(
    status: number,
    message: string,
    details: { readonly type?: string; readonly param?: string; readonly code?: string } = {},
    retryAfterS: number | null = null,
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.param = details.param ?? null
    this.body = { error: { message, type: 'invalid_request_error', param: null, code: null, ...details } }
    this.retryAfterS = retryAfterS
  }
}
