import type { ErrorBody } from '../../src/api/error-body.ts'

/** Why the dashboard did not do what it was asked for, in words for the reader. */
export class DashboardError extends Error {
  /** The parameter or setting that is wrong. */
  readonly param: string | null
  /** The gateway's last words, where it did not come up. */
  readonly log: readonly string[]
  /** The code of the dashboard's error; null where it did not answer. */
  readonly code: string | null

  constructor(message: string, rest: { param?: string | null; log?: readonly string[]; code?: string } = {}) {
    super(message)
    this.name = 'DashboardError'
    this.param = rest.param ?? null
    this.log = rest.log ?? []
    this.code = rest.code ?? null
  }
}

/** What an answer that is none of success says. */
export function dashboardErrorOf(answer: unknown, status: number): DashboardError {
  const error = (answer as Partial<ErrorBody> | null)?.error
  if (error === undefined) return new DashboardError(`The dashboard answered with status ${status}.`)
  return new DashboardError(error.message, {
    param: error.param ?? null,
    log: error.log ?? [],
    code: error.code,
  })
}

/** What went wrong, in words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
