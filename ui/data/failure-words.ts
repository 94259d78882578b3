import type { OverviewCall } from '../../src/api/overview.ts'
import { isFailed } from '../../src/call/outcome.ts'
import type { FailureCode } from '../../src/call/failure.ts'
import { isNameOf, isOutcome, outcomeWords } from './call-words.ts'

export interface FailureWords {
  /** For a tag or a list. */
  readonly short: string
  /** What happened, in a sentence. */
  readonly sentence: string
}

/** What each failure code means to people. */
export const failureWords: Readonly<Record<FailureCode, FailureWords>> = {
  not_found: { short: 'Unknown path', sentence: 'The gateway forwards no such path.' },
  method_not_allowed: { short: 'Wrong method', sentence: 'This path does not take this method.' },
  upgrade_not_supported: {
    short: 'Upgrade refused',
    sentence: 'The client asked for another protocol, such as WebSocket, which is not forwarded.',
  },
  invalid_request: { short: 'Invalid request', sentence: 'The request was not one that may be passed on.' },
  forbidden: { short: 'Forbidden', sentence: 'The gateway was asked under a name that is not trusted.' },
  body_too_large: {
    short: 'Body too large',
    sentence: 'The request’s body was larger than the gateway allows.',
  },
  loop_detected: {
    short: 'Loop',
    sentence: 'The call had passed this gateway before: its upstream leads back to it.',
  },
  queue_full: { short: 'Queue full', sentence: 'As many calls were waiting as the queue holds.' },
  queue_timeout: { short: 'Queue timeout', sentence: 'No slot became free within the time a call may wait.' },
  buffers_full: {
    short: 'Buffers full',
    sentence: 'The bodies of all calls together took more memory than the gateway allows.',
  },
  draining: { short: 'Stopping', sentence: 'The gateway was stopping and could not let the call finish.' },
  too_many_readers: { short: 'Feed full', sentence: 'The live feed had as many readers as it takes.' },
  token_budget_exceeded: {
    short: 'Over budget',
    sentence: 'The tokens of 24 hours were used up, and the gateway refuses calls beyond them.',
  },
  budget_unknown: {
    short: 'Budget unknown',
    sentence: 'The gateway could not read what was used of the token budget, so it let no call through.',
  },
  internal_error: { short: 'Gateway fault', sentence: 'A fault of the gateway itself.' },
  upstream_unreachable: {
    short: 'Unreachable',
    sentence: 'The upstream could not be connected to, or closed the connection before it answered.',
  },
  upstream_protocol_error: {
    short: 'Not HTTP',
    sentence: 'What the upstream sent could not be read as HTTP.',
  },
  upstream_timeout: {
    short: 'Upstream timeout',
    sentence: 'The upstream sent nothing within the time it is given.',
  },
  upstream_http: { short: 'Upstream error', sentence: 'The upstream answered with an error.' },
  stream_error: {
    short: 'Error in answer',
    sentence: 'The answer began as a success, then the upstream reported an error in it.',
  },
  stream_truncated: { short: 'No end mark', sentence: 'The upstream’s stream stopped without its end mark.' },
  upstream_reset: {
    short: 'Broke off',
    sentence: 'The upstream’s connection broke before the answer was complete.',
  },
  client_gone: { short: 'Client left', sentence: 'The client left before it had the whole answer.' },
  client_stalled: {
    short: 'Client stalled',
    sentence: 'The client stopped reading the answer for longer than it may.',
  },
}

const isFailureCode = isNameOf(failureWords)

/** What is known of how a call ended. */
export interface EndedCall extends Pick<OverviewCall, 'failure_code' | 'status'> {
  /** A newer gateway may tell of one that is not known here. */
  readonly outcome: string
}

/** The same, and whether that is a failure. */
export type JudgedCall = EndedCall & { readonly failed: boolean }

/** How a call ended, in two or three words. */
export function endWords({ outcome, failure_code: code }: EndedCall): string {
  return code !== null && isFailureCode(code)
    ? failureWords[code].short
    : isOutcome(outcome)
      ? outcomeWords[outcome]
      : outcome
}

/** What went wrong, in a sentence; null where nothing did. */
export function failureSentence({ outcome, failure_code: code, status }: EndedCall): string | null {
  if (outcome === 'ok') return null
  if (outcome === 'interrupted') {
    return 'The gateway ended before this call did. What became of it is not known.'
  }
  if (code === 'upstream_http' && status !== null) return `The upstream answered with status ${status}.`
  return code !== null && isFailureCode(code)
    ? failureWords[code].sentence
    : endWords({ outcome, failure_code: code, status })
}

/** Whether an outcome is a failure; those of a newer gateway are. */
export function isFailure(outcome: string): boolean {
  return isOutcome(outcome) ? isFailed(outcome) : true
}

/** A code as a person says it; codes of a newer gateway stay as they are. */
export function failureCodeWords(code: string): string {
  return isFailureCode(code) ? failureWords[code].short : code
}
