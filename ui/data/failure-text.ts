import type { OverviewCall } from '../../src/api/overview.ts'
import { isFailed } from '../../src/call/outcome.ts'
import type { FailureCode } from '../../src/call/failure.ts'
import { isNameOf, isOutcome, outcomeWords } from './call-text.ts'

/** Each failure code in words: short, for a tag or a list, and as a sentence. */
export const failureWords: Readonly<Record<FailureCode, readonly [short: string, sentence: string]>> = {
  not_found: ['Unknown path', 'The gateway does not forward this path.'],
  method_not_allowed: ['Wrong method', 'The path does not accept this method.'],
  upgrade_not_supported: [
    'Upgrade refused',
    'The client asked to upgrade the connection, such as to WebSocket, which is not forwarded.',
  ],
  invalid_request: ['Invalid request', 'The gateway cannot forward this request.'],
  forbidden: ['Forbidden', 'The request’s host name is not allowed.'],
  body_too_large: ['Body too large', 'The request body is larger than the gateway allows.'],
  unreadable_body: [
    'Unreadable body',
    'The gateway could not decode the request body to choose an upstream.',
  ],
  loop_detected: ['Loop', 'The upstream sent the call back to this gateway.'],
  queue_full: ['Queue full', 'The queue was full when the call arrived.'],
  queue_timeout: ['Queue timeout', 'The call waited too long for a slot, or for a limit per minute.'],
  buffers_full: ['Buffers full', 'Request and response bodies used all the memory the gateway allows.'],
  draining: ['Stopping', 'The gateway stopped before the call could finish.'],
  too_many_readers: ['Feed full', 'The live feed had too many readers.'],
  metrics_late: ['Metrics late', 'The gateway did not respond to a metrics scrape in time.'],
  token_budget_exceeded: ['Over budget', 'The call needs more tokens than are left in the 24-hour budget.'],
  client_budget_exceeded: [
    'Client budget',
    'The call needs more tokens than are left in its client’s 24-hour budget.',
  ],
  upstream_budget_exceeded: [
    'Upstream budget',
    'The call needs more tokens than are left in the upstream’s 24-hour budget.',
  ],
  budget_unknown: [
    'Budget unknown',
    'The gateway could not find out how much of the token budget is used, so it refused calls.',
  ],
  limit_unreachable: [
    'Limit unreachable',
    'The database through which gateways share their limit was unreachable.',
  ],
  cancelled: ['Cancelled', 'Cancelled from the dashboard.'],
  internal_error: ['Gateway fault', 'The gateway had an internal error.'],
  upstream_unreachable: [
    'Unreachable',
    'The upstream refused the connection, or closed it before responding.',
  ],
  upstream_protocol_error: ['Not HTTP', 'The upstream’s response was not valid HTTP.'],
  upstream_timeout: ['Upstream timeout', 'The upstream did not respond in time.'],
  upstream_http: ['Upstream error', 'The upstream returned an error.'],
  stream_error: ['Error mid-stream', 'The upstream reported an error in the middle of its response.'],
  empty_answer: ['Empty response', 'The upstream returned 200 with an empty response.'],
  stream_truncated: [
    'Incomplete',
    'The response ended early: the stream has no end event, or the JSON is cut off.',
  ],
  implausible_usage: ['Wrong usage', 'The upstream reported an impossible number of tokens or cost.'],
  upstream_reset: ['Connection lost', 'The upstream’s connection broke before the response was complete.'],
  client_gone: ['Client left', 'The client disconnected before the response was complete.'],
  client_stalled: [
    'Client stalled',
    'The client stopped reading the response, or sending an upload, for too long.',
  ],
}

const isFailureCode = isNameOf(failureWords)

/** The outcome of a call. */
export interface EndedCall extends Pick<OverviewCall, 'failure_code' | 'status'> {
  /** The outcome's code. A newer gateway may have outcomes that this page does not know. */
  readonly outcome: string
}

/** The outcome of a call, and whether it is a failure. */
export type JudgedCall = EndedCall & { readonly failed: boolean }

/** Returns the words of a failure code; undefined without a code, and for codes of a newer gateway. */
function wordsOf(code: string | null): readonly [short: string, sentence: string] | undefined {
  return code !== null && isFailureCode(code) ? failureWords[code] : undefined
}

/** Returns the outcome in two or three words. */
export function endWords({ outcome, failure_code: code }: EndedCall): string {
  const ended = isOutcome(outcome) ? outcomeWords[outcome] : outcome
  return outcome === 'ok' ? ended : (wordsOf(code)?.[0] ?? ended)
}

/**
 * Returns the failure as a sentence; null without a failure. A successful call has one if its figures are
 * impossible.
 */
export function failureSentence(call: EndedCall): string | null {
  const { outcome, failure_code: code, status } = call
  const sentence = wordsOf(code)?.[1]
  if (outcome === 'ok') return sentence ?? null
  if (outcome === 'interrupted') return 'The gateway ended before this call. Its outcome is unknown.'
  if (code === 'upstream_http' && status !== null) return `The upstream returned status ${status}.`
  return sentence ?? endWords(call)
}

/** True if an outcome is a failure. Unknown outcomes of a newer gateway count as failures. */
export function isFailure(outcome: string): boolean {
  return isOutcome(outcome) ? isFailed(outcome) : true
}

/** Returns a failure code in words. Codes of a newer gateway stay unchanged. */
export function failureCodeWords(code: string): string {
  return wordsOf(code)?.[0] ?? code
}
