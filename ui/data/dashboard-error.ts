import type { ErrorBody } from '../../src/api/error-body.ts'

/** An error of a request to the dashboard. The message is for the user. */
export class DashboardError extends Error {
  /** The parameter or setting that is wrong; null otherwise. */
  readonly param: string | null
  /** The gateway's last log lines if it failed to start; else empty. */
  readonly log: readonly string[]
  /** Facts about the error by name. */
  readonly data: Readonly<Record<string, string>>
  /** The error's code; null if the dashboard did not answer. */
  readonly code: string | null

  constructor(
    message: string,
    { param = null, log = [], data = {}, code }: Partial<ErrorBody['error']> = {},
  ) {
    super(message)
    this.name = 'DashboardError'
    this.param = param
    this.log = log
    this.data = data
    this.code = code ?? null
  }
}

/** Returns the message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
