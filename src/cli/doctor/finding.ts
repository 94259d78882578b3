/**
 * `ok`: nothing to do. `warning`: the gateway works, and the user should know something. `fault`: the gateway
 * does not work.
 */
export type FindingState = 'ok' | 'warning' | 'fault'

/** The result of a check: state, message and remedy. */
export interface Finding {
  readonly check: string
  readonly state: FindingState
  readonly message: string
  /** Null if there is nothing to do. */
  readonly remedy: string | null
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message, remedy: null }
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy }
}

export function fault(check: string, message: string, remedy: string): Finding {
  return { check, state: 'fault', message, remedy }
}
