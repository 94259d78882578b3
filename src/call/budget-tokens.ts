import { type NamedField, storedFields } from './fields/call-fields.ts'
import type { StoredCall } from './call-record.ts'

const spentNames = [
  'callType',
  'outcome',
  'failureCode',
  'connectMs',
  'ttfbMs',
  'status',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'requestBytes',
  'chunks',
] as const satisfies readonly NamedField['record'][]

/** The fields of a call from which its tokens are counted. */
export type SpentCall = Pick<StoredCall, (typeof spentNames)[number]>

/** The fields of a {@link SpentCall}. */
export const spentFields: readonly NamedField[] = storedFields.filter(({ record }) =>
  spentNames.some((name) => name === record),
)

/** Bytes per token of ordinary text: an estimate in place of a tokenizer. */
const bytesPerToken = 4

/** The estimated input tokens of a request body. */
export function requestTokens(requestBytes: number): number {
  return Math.ceil(requestBytes / bytesPerToken)
}

/** Tokens that the upstream reported. */
export function reportedTokens({ inputTokens, outputTokens }: SpentCall): number {
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

/**
 * Tokens that the upstream most likely spent on a call and did not report: the client left, the stream broke,
 * or the upstream never reports usage. The estimate is a quarter of the request's bytes, and one token for
 * each chunk with content. The call's row does not have the estimate.
 */
export function estimatedTokens(call: SpentCall): number {
  if (!mayHaveSpent(call)) return 0
  const { inputTokens, outputTokens, totalTokens, requestBytes, outcome } = call
  const input = inputTokens === null && totalTokens === null ? requestTokens(requestBytes) : 0
  // A stream that broke off has reported the usage at its beginning.
  const isOutputKnown = outputTokens !== null && outcome === 'ok'
  return input + (isOutputKnown ? 0 : Math.max(0, (call.chunks ?? 0) - (outputTokens ?? 0)))
}

/** True if the call reached an upstream that did not refuse it. Calls without tokens, such as uploads, have none to estimate. */
function mayHaveSpent({ callType, outcome, failureCode, connectMs, ttfbMs, status }: SpentCall): boolean {
  if (callType === 'props' || callType === 'other') return false
  if (outcome === 'interrupted') return true
  const isAnswered = ttfbMs !== null
  if (isAnswered) return status !== null && status < 400
  return connectMs !== null && failureCode !== 'upstream_unreachable'
}
