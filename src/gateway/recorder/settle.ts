import type { AnswerEnding, Outcome } from '../../call/outcome.ts'
import type { Failure, FailureCode } from '../../call/failure.ts'

/** The facts at the end of a call. */
export interface CallEnd {
  /** The status that was sent to the client; `null` for none. */
  readonly status: number | null
  /** The failure that ended or prevented the attempt; null if the HTTP message was complete. */
  readonly failure: Failure | null
  /** Why the client counts as gone; `null` if it got everything. */
  readonly gone: Failure | null
  readonly ending: AnswerEnding
  /** True if the reported usage is impossible. */
  readonly isImplausible: boolean
}

/** The outcome of a call, as its row has it. */
export interface Verdict {
  readonly outcome: Outcome
  readonly failureCode: FailureCode | null
  /** The status to record: 499 if the client left before one was sent. */
  readonly status: number | null
}

/**
 * The outcome of a call. The first cause wins: if an upstream reports an error and the client then leaves, the outcome is the
 * upstream's error; a client that left after the end mark had a complete answer.
 */
export function settle(end: CallEnd): Verdict {
  const { status, failure, gone, ending } = end
  if (ending === 'stream_error') return { outcome: 'upstream_error', failureCode: 'stream_error', status }
  if (gone !== null && (failure === null || failure.kind.side === 'client')) {
    if (ending === 'complete' && status !== null && status < 400)
      return { outcome: 'ok', failureCode: null, status }
    return { outcome: 'client_disconnected', failureCode: gone.code, status: status ?? 499 }
  }
  if (failure !== null) return { ...endOf(failure, end), status }
  if (status !== null && status >= 400) {
    return { outcome: 'upstream_error', failureCode: 'upstream_http', status }
  }
  if (ending === 'empty') return { outcome: 'upstream_error', failureCode: 'empty_answer', status }
  if (ending === 'truncated') return { outcome: 'upstream_cut', failureCode: 'stream_truncated', status }
  return { outcome: 'ok', failureCode: end.isImplausible ? 'implausible_usage' : null, status }
}

function endOf(failure: Failure, end: CallEnd): Omit<Verdict, 'status'> {
  const failureCode = failure.code
  if (failureCode === 'internal_error') return { outcome: 'gateway_error', failureCode }
  // The gateway's own 502, 503 or 504 was sent in place of an answer; any other status was the upstream's.
  const isOwnAnswer = end.status === null || end.status === failure.kind.status
  if (failure.kind.side === 'gateway' && !isOwnAnswer) return { outcome: 'gateway_error', failureCode }
  if (failure.kind.side !== 'upstream') return { outcome: 'refused', failureCode }
  if (isOwnAnswer) return { outcome: 'upstream_error', failureCode }
  return {
    outcome: 'upstream_cut',
    failureCode: failureCode === 'upstream_timeout' ? failureCode : 'upstream_reset',
  }
}
