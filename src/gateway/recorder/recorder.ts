import type { Call } from '../../call/call.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { Usage } from '../../call/usage.ts'
import type { Failure } from '../../call/failure.ts'
import { maskSecrets } from './mask-secrets.ts'
import { type AnswerEnding, settle } from './settle.ts'

/** The marks of a call, in monotonic milliseconds; `null` where a step was not reached. */
export interface CallMarks {
  readonly receivedAt: number
  readonly bodyReadAt: number | null
  readonly admittedAt: number | null
  readonly firstDispatchAt: number | null
  readonly dispatchedAt: number | null
  readonly startedAt: number | null
  readonly answeredAt: number | null
  readonly attemptOverAt: number | null
  readonly closedAt: number | null
  readonly clientAloneFrom: number | null
  readonly attempts: number
}

/** What the meter read off the answer. */
export interface AnswerReading {
  readonly ttftMs: number | null
  readonly ttfoMs: number | null
  readonly tpotMs: number | null
  readonly chunks: number | null
  readonly gapP50Ms: number | null
  readonly gapP95Ms: number | null
  readonly gapMaxMs: number | null
  readonly stalls: number | null
  readonly usage: Usage | null
  readonly responseModel: string | null
  readonly serviceTier: string | null
  readonly finishReason: string | null
  readonly upstreamRequestId: string | null
  readonly upstreamErrorCode: string | null
  readonly errorMessage: string | null
  readonly upstreamQueueMs: number | null
  readonly upstreamPromptMs: number | null
  readonly upstreamDecodeMs: number | null
  readonly costNanoUsd: number | null
  readonly searchUnits: number | null
  readonly responseBytes: number
  readonly ending: AnswerEnding
}

/** All that is known of a call when it is over. */
export interface EndedCall {
  readonly call: Call
  readonly model: string | null
  readonly stream: boolean
  readonly upstream: string
  readonly instance: string
  readonly requestBytes: number
  readonly marks: CallMarks
  readonly status: number | null
  readonly failure: Failure | null
  readonly gone: Failure | null
  readonly reading: AnswerReading
}

/** The one row of an ended call. */
export function recordOf(ended: EndedCall): CallRecord {
  const { call, marks, reading } = ended
  const verdict = settle({
    status: ended.status,
    failure: ended.failure,
    gone: ended.gone,
    ending: reading.ending,
  })
  const usage = reading.usage
  const closedAt = marks.closedAt ?? marks.receivedAt
  const message = reading.errorMessage ?? (verdict.outcome === 'ok' ? null : (ended.failure?.message ?? null))
  return {
    id: call.id,
    callType: call.type,
    endpoint: call.endpoint,
    method: call.method,
    stream: ended.stream,
    model: ended.model,
    responseModel: reading.responseModel,
    serviceTier: reading.serviceTier,
    upstream: ended.upstream,
    instance: ended.instance,
    status: verdict.status,
    outcome: verdict.outcome,
    failureCode: verdict.failureCode,
    upstreamErrorCode: reading.upstreamErrorCode,
    errorMessage: message === null ? null : maskSecrets(message),
    finishReason: reading.finishReason,
    attempts: marks.attempts,
    clientRetry: call.clientRetry,
    ...spans(marks, closedAt),
    ttftMs: reading.ttftMs,
    ttfoMs: reading.ttfoMs,
    tpotMs: reading.tpotMs,
    chunks: reading.chunks,
    gapP50Ms: reading.gapP50Ms,
    gapP95Ms: reading.gapP95Ms,
    gapMaxMs: reading.gapMaxMs,
    stalls: reading.stalls,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedInputTokens ?? null,
    cacheWriteTokens: usage?.cacheWriteTokens ?? null,
    cacheWrite1hTokens: usage?.cacheWrite1hTokens ?? null,
    inputAudioTokens: usage?.inputAudioTokens ?? null,
    outputAudioTokens: usage?.outputAudioTokens ?? null,
    reasoningTokens: usage?.reasoningTokens ?? null,
    totalTokens: usage?.totalTokens ?? null,
    usageSource: usage?.source ?? 'none',
    requestBytes: ended.requestBytes,
    responseBytes: reading.responseBytes,
    searchUnits: reading.searchUnits,
    upstreamRequestId: reading.upstreamRequestId,
    upstreamQueueMs: reading.upstreamQueueMs,
    upstreamPromptMs: reading.upstreamPromptMs,
    upstreamDecodeMs: reading.upstreamDecodeMs,
    client: call.client,
    keyFingerprint: call.keyFingerprint,
    userAgent: call.userAgent,
    session: call.session,
    costNanoUsd: reading.costNanoUsd,
    priceSource: reading.costNanoUsd === null ? null : 'upstream',
    priceKey: null,
  }
}

type Spans = Pick<
  CallRecord,
  'receiveMs' | 'queueMs' | 'retryWaitMs' | 'connectMs' | 'ttfbMs' | 'durationMs' | 'overheadMs'
>

function spans(marks: CallMarks, closedAt: number): Spans {
  const { receivedAt, bodyReadAt, admittedAt, firstDispatchAt, dispatchedAt } = marks
  const durationMs = closedAt - receivedAt
  const receiveMs = between(receivedAt, bodyReadAt)
  // A call that was never admitted has waited until it left or was refused.
  const queueMs = between(bodyReadAt, admittedAt ?? closedAt)
  const retryWaitMs = between(firstDispatchAt, dispatchedAt)
  const upstreamMs = between(dispatchedAt, marks.attemptOverAt ?? closedAt) ?? 0
  const clientMs = between(marks.clientAloneFrom, closedAt) ?? 0
  const notOurs = (receiveMs ?? durationMs) + (queueMs ?? 0) + (retryWaitMs ?? 0) + upstreamMs + clientMs
  return {
    receiveMs,
    queueMs,
    retryWaitMs,
    connectMs: between(dispatchedAt, marks.startedAt),
    ttfbMs: between(dispatchedAt, marks.answeredAt),
    durationMs,
    overheadMs: Math.max(0, durationMs - notOurs),
  }
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from
}
