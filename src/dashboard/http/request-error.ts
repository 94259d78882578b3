import type { ErrorBody } from '../../api/error-body.ts'
import { PriceFileError } from '../../pricing/change-prices.ts'
import { ProcessError } from '../../supervisor/process-error.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { SettingError } from '../../supervisor/gateway-config.ts'
import { GatewayRefusedError, RawLogError } from '../../supervisor/raw-log-relay.ts'

/** The status of every error that the dashboard answers. `docs/dashboard.md` says what each means. */
export const errorStatuses = {
  invalid_host: 400,
  invalid_target: 400,
  pipelined_stream: 400,
  unknown_parameter: 400,
  invalid_parameter: 400,
  invalid_json: 400,
  invalid_body: 400,
  invalid_request: 400,
  invalid_price: 400,
  invalid_setting: 400,
  unknown_setting: 400,
  too_many_groups: 400,
  token_required: 401,
  token_wrong: 401,
  token_not_set: 403,
  forbidden_host: 403,
  cross_site: 403,
  forwarded_by_gateway: 403,
  not_found: 404,
  call_not_found: 404,
  price_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  not_running: 409,
  fixed_setting: 409,
  job_running: 409,
  sync_running: 409,
  no_database: 409,
  folded_range: 409,
  broken_price_file: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  too_many_attempts: 429,
  headers_too_large: 431,
  internal_error: 500,
  start_failed: 500,
  port_in_use: 500,
  stop_failed: 500,
  not_applied: 500,
  broken_settings_file: 500,
  settings_not_kept: 500,
  job_failed: 500,
  prices_not_kept: 500,
  unknown_method: 501,
  closing: 503,
  too_many_readers: 503,
  page_not_built: 503,
  prices_busy: 503,
  query_interrupted: 503,
  too_busy: 503,
  too_slow: 503,
  gateway_silent: 504,
} as const

export type ErrorCode = keyof typeof errorStatuses

/** After how many seconds it may be asked again. */
const retryAfterS: Readonly<Record<string, number>> = {
  closing: 2,
  too_many_readers: 10,
  prices_busy: 1,
  query_interrupted: 1,
  too_busy: 1,
}

interface ErrorDetails {
  /** The parameter, setting or member of the body that is wrong. */
  readonly param?: string | null
  /** The last lines of the gateway's log. */
  readonly log?: readonly string[]
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Why a request is answered with a status of 400 or above. */
export class RequestError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorBody

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, status?: number) {
    super(message)
    this.name = 'RequestError'
    this.code = code
    this.status = status ?? errorStatuses[code]
    const seconds = retryAfterS[code]
    this.headers = details.headers ?? (seconds === undefined ? {} : { 'Retry-After': String(seconds) })
    const { param = null, log = [] } = details
    this.body = { error: { code, message, param, ...(log.length === 0 ? {} : { log }) } }
  }
}

/** The answer to a request whose handling threw; null for a fault of our own, of which nothing is told. */
export function requestErrorOf(error: unknown): RequestError | null {
  if (error instanceof RequestError) return error
  if (
    error instanceof ProcessError ||
    error instanceof JobError ||
    error instanceof RawLogError ||
    error instanceof SettingError ||
    error instanceof PriceFileError
  ) {
    const param = 'param' in error ? error.param : null
    return new RequestError(error.code, error.message, { param, log: 'log' in error ? error.log : [] })
  }
  if (error instanceof GatewayRefusedError) {
    const headers: Record<string, string> =
      error.retryAfter === null ? {} : { 'Retry-After': error.retryAfter }
    // The gateway's own code is passed on, whatever it is.
    return new RequestError(error.code as ErrorCode, error.message, { headers }, error.status)
  }
  return null
}
