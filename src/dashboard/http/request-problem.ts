import type { ErrorBody } from '../../api/error-body.ts'
import { PriceFileError } from '../../pricing/change-prices.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { ProcessError } from '../../supervisor/gateway-process.ts'
import { SettingError } from '../../supervisor/gateway-config.ts'
import { GatewayRefusedError, RawLogError } from '../../supervisor/raw-log-relay.ts'

/** Why a request is answered with a status of 400 or above. */
export class RequestProblem extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null
  readonly log: readonly string[]
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    details: {
      readonly param?: string | null
      readonly log?: readonly string[]
      readonly headers?: Readonly<Record<string, string>>
    } = {},
  ) {
    super(message)
    this.name = 'RequestProblem'
    this.status = status
    this.code = code
    this.param = details.param ?? null
    this.log = details.log ?? []
    this.headers = details.headers ?? {}
  }

  get body(): ErrorBody {
    const { code, message, param, log } = this
    return { error: { code, message, param, ...(log.length === 0 ? {} : { log }) } }
  }
}

const troubleStatus: Readonly<Record<ProcessError['code'], number>> = {
  not_running: 409,
  start_failed: 500,
  port_in_use: 500,
  stop_failed: 500,
  not_applied: 500,
}

const settingStatus: Readonly<Record<SettingError['code'], number>> = {
  invalid_setting: 400,
  unknown_setting: 400,
  fixed_setting: 409,
  broken_settings_file: 500,
  settings_not_kept: 500,
}

const jobStatus: Readonly<Record<JobError['code'], number>> = {
  job_running: 409,
  no_database: 409,
  folded_range: 409,
  broken_price_file: 409,
  job_failed: 500,
}

const rawLogStatus: Readonly<Record<RawLogError['code'], number>> = {
  not_running: 409,
  gateway_silent: 504,
}

const priceFileStatus: Readonly<Record<PriceFileError['code'], number>> = {
  prices_busy: 503,
  broken_price_file: 409,
  prices_not_kept: 500,
}

/** What a request whose handling threw is answered; null for a fault of our own, of which nothing is told. */
export function problemOf(error: unknown): RequestProblem | null {
  if (error instanceof RequestProblem) return error
  if (error instanceof ProcessError) {
    return new RequestProblem(troubleStatus[error.code], error.code, error.message, { log: error.log })
  }
  if (error instanceof JobError) {
    return new RequestProblem(jobStatus[error.code], error.code, error.message)
  }
  if (error instanceof RawLogError) {
    return new RequestProblem(rawLogStatus[error.code], error.code, error.message)
  }
  if (error instanceof GatewayRefusedError) {
    const headers = error.retryAfter === null ? {} : { 'retry-after': error.retryAfter }
    return new RequestProblem(error.status, error.code, error.message, { headers })
  }
  if (error instanceof PriceFileError) {
    const headers = error.code === 'prices_busy' ? { 'retry-after': '1' } : {}
    return new RequestProblem(priceFileStatus[error.code], error.code, error.message, { headers })
  }
  if (error instanceof SettingError) {
    return new RequestProblem(settingStatus[error.code], error.code, error.message, { param: error.param })
  }
  return null
}

/** The answer to a request that met a fault of our own. */
export const internalError: RequestProblem = new RequestProblem(
  500,
  'internal_error',
  "The dashboard met a fault of its own; what it was stands in the dashboard's output.",
)
