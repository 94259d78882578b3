import type { OverviewCall } from '../../src/api/overview.ts'
import { isFailed } from '../../src/call/outcome.ts'
import type { FailureCode } from '../../src/call/failure.ts'
import { isNameOf, isOutcome, outcomeWords } from './call-text.ts'

/** What each failure code means to people: for a tag or a list; and what happened, in a sentence. */
export const failureWords: Readonly<Record<FailureCode, readonly [short: string, sentence: string]>> = {
  not_found: ['Unknown path', 'The gateway forwards no such path.'],
  method_not_allowed: ['Wrong method', 'This path does not take this method.'],
  upgrade_not_supported: [
    'Upgrade refused',
    'The client asked for another protocol, such as WebSocket, which is not forwarded.',
  ],
  invalid_request: ['Invalid request', 'The request was not one that may be passed on.'],
  forbidden: ['Forbidden', 'The gateway was asked under a name that is not trusted.'],
  body_too_large: ['Body too large', 'The request’s body was larger than the gateway allows.'],
  unreadable_body: [
    'Unreadable body',
    'The gateway cannot decode the request body, so it cannot tell which upstream it is for.',
  ],
  loop_detected: ['Loop', 'The call had passed this gateway before: its upstream leads back to it.'],
  queue_full: ['Queue full', 'As many calls were waiting as the queue holds.'],
  queue_timeout: ['Queue timeout', 'No slot became free within the time a call may wait.'],
  buffers_full: [
    'Buffers full',
    'The bodies of all calls together took more memory than the gateway allows.',
  ],
  draining: ['Stopping', 'The gateway was stopping and could not let the call finish.'],
  too_many_readers: ['Feed full', 'The live feed had as many readers as it takes.'],
  metrics_late: ['Metrics late', 'The thread that records calls did not answer a scrape in time.'],
  token_budget_exceeded: ['Over budget', 'The call needs more tokens than the budget of 24 hours has left.'],
  client_budget_exceeded: [
    'Client budget',
    'The call needs more tokens than its client has left of its 24-hour budget.',
  ],
  upstream_budget_exceeded: [
    'Upstream budget',
    'The call needs more tokens than the upstream has left of its 24-hour budget.',
  ],
  budget_unknown: [
    'Budget unknown',
    'The gateway could not read what was used of the token budget, so it let no call through.',
  ],
  limit_unreachable: [
    'Limit unreachable',
    'The gateways share their limit through a database that could not be asked.',
  ],
  cancelled: ['Cancelled', 'Cancelled while it was in progress.'],
  internal_error: ['Gateway fault', 'A fault of the gateway itself.'],
  upstream_unreachable: [
    'Unreachable',
    'The upstream could not be connected to, or closed the connection before it answered.',
  ],
  upstream_protocol_error: ['Not HTTP', 'What the upstream sent could not be read as HTTP.'],
  upstream_timeout: ['Upstream timeout', 'The upstream sent nothing within the time it is given.'],
  upstream_http: ['Upstream error', 'The upstream answered with an error.'],
  stream_error: [
    'Error mid-stream',
    'The answer began as a success, then the upstream reported an error in it.',
  ],
  empty_answer: ['No answer', 'The upstream answered 200 without an answer in it.'],
  stream_truncated: [
    'Incomplete answer',
    'The upstream’s stream has no end mark, or its JSON is not closed.',
  ],
  implausible_usage: [
    'Wrong usage',
    'The upstream reported more tokens, or a higher cost, than one call can have used.',
  ],
  upstream_reset: ['Connection lost', 'The upstream’s connection broke before the answer was complete.'],
  client_gone: ['Client left', 'The client left before it had the whole answer.'],
  client_stalled: ['Client stalled', 'The client stopped reading the answer for longer than it may.'],
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
  return outcome !== 'ok' && code !== null && isFailureCode(code)
    ? failureWords[code][0]
    : isOutcome(outcome)
      ? outcomeWords[outcome]
      : outcome
}

/** What went wrong, in a sentence; null where nothing did. A call can succeed and report figures that cannot be right. */
export function failureSentence({ outcome, failure_code: code, status }: EndedCall): string | null {
  if (outcome === 'ok') return code !== null && isFailureCode(code) ? failureWords[code][1] : null
  if (outcome === 'interrupted') {
    return 'The gateway ended before this call did. What became of it is not known.'
  }
  if (code === 'upstream_http' && status !== null) return `The upstream answered with status ${status}.`
  return code !== null && isFailureCode(code)
    ? failureWords[code][1]
    : endWords({ outcome, failure_code: code, status })
}

/** True if an outcome is a failure; those of a newer gateway are. */
export function isFailure(outcome: string): boolean {
  return isOutcome(outcome) ? isFailed(outcome) : true
}

/** A code as a person says it; codes of a newer gateway stay as they are. */
export function failureCodeWords(code: string): string {
  return isFailureCode(code) ? failureWords[code][0] : code
}
