/** What an upstream is to see of a request that passes. Only what is named here is looked at. */
export interface PassedOn {
  readonly method: string
  readonly target: string
  /** Latin-1; the transfer coding taken off. */
  readonly body?: string
  /** Header lines as they must stand there: `Name: value`. */
  readonly has?: readonly string[]
  /** Names of headers that must not be there, in lower case. */
  readonly lacks?: readonly string[]
}

/** Bytes that are sent on one connection, and what is to become of them. */
export interface HttpVector {
  readonly what: string
  /** Where the rule stands, such as `9112 §3.2`. */
  readonly rule: string
  /** Latin-1. */
  readonly bytes: string
  /** Requests that reach the upstream, in this order; none where what was sent is malformed. */
  readonly passes: readonly PassedOn[]
  /** Statuses of the answers, in this order. */
  readonly statuses: readonly number[]
  /** Whether the server must close the connection behind the last of them. */
  readonly closes: boolean
  /** Whether the RFC leaves it open, and we refuse it for safety or by a limit of ours. */
  readonly byOurRule?: boolean
}

export const chatPath = '/v1/chat/completions'
/** A request line and Host, to be followed by header lines. */
export const postStart: string = `POST ${chatPath} HTTP/1.1\r\nHost: localhost\r\n`
/** The same for a request without a body. */
export const getStart = 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n'

/** What no server may take for a request: it is answered 400, or as told, and its connection closed. */
export function malformed(rule: string, what: string, bytes: string, status = 400): HttpVector {
  return { what, rule, bytes, passes: [], statuses: [status], closes: true }
}

/** What a server may take, and we do not. */
export function declined(rule: string, what: string, bytes: string, status = 400): HttpVector {
  return { ...malformed(rule, what, bytes, status), byOurRule: true }
}

/** What looks odd and is well-formed: it passes, and is answered 200. */
export function passing(rule: string, what: string, bytes: string, ...passes: PassedOn[]): HttpVector {
  return { what, rule, bytes, passes, statuses: passes.map(() => 200), closes: false }
}

/** What is answered here and goes no further. */
export function answered(rule: string, what: string, bytes: string, status: number): HttpVector {
  return { what, rule, bytes, passes: [], statuses: [status], closes: false }
}
