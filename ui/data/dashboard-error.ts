import type { ErrorBody } from '../../src/api/error-body.ts'

/** The dashboard refused a request. The message is for the user. */
export class DashboardError extends Error {
  /** The parameter or setting that is wrong. */
  readonly param: string | null
  /** The gateway's last words, where it did not come up. */
  readonly log: readonly string[]
  /** Facts of the error by their names; empty where there are none. */
  readonly data: Readonly<Record<string, string>>
  /** The code of the dashboard's error; null where it did not answer. */
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

/** The message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
