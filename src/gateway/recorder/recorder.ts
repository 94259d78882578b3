import type { Call } from '../../call/call.ts'
import type { CallRecord } from '../../call/call-record.ts'
import type { Failure } from '../../call/failure.ts'
import type { MeterReading } from '../../call/meter-reading.ts'
import type { CallTimeline } from './call-timeline.ts'
import { longestMessage, storedText } from './stored-text.ts'
import { settle } from './settle.ts'

/** All that is known of a call when it is over. */
export interface EndedCall {
  readonly call: Call
  readonly model: string | null
  readonly stream: boolean
  readonly upstream: string
  readonly instance: string
  readonly requestBytes: number
  readonly timeline: CallTimeline
  readonly status: number | null
  readonly failure: Failure | null
  readonly gone: Failure | null
  readonly reading: MeterReading
}

/** The one row of an ended call. `label` makes words of an upstream fit to be stored. */
export function recordOf(ended: EndedCall, label: (text: string) => string): CallRecord {
  const stored = (text: string | null): string | null => (text === null ? null : label(text))
  const { call, timeline, reading } = ended
  const { status, failure, gone } = ended
  const verdict = settle({ status, failure, gone, ending: reading.ending })
  const usage = reading.usage
  const closedAt = timeline.closedAt ?? timeline.receivedAt
  const durationMs = closedAt - timeline.receivedAt
  const receiveMs = between(timeline.receivedAt, timeline.bodyReadAt)
  // A call that was never admitted has waited until it left or was refused.
  const queueMs = between(timeline.bodyReadAt, timeline.admittedAt ?? closedAt)
  // Without an answering attempt, all since the first one was lost.
  const retryWaitMs = between(timeline.firstDispatchAt, timeline.dispatchedAt ?? closedAt)
  const upstreamMs = between(timeline.dispatchedAt, timeline.attemptOverAt ?? closedAt) ?? 0
  const clientMs = between(timeline.clientAloneFrom, closedAt) ?? 0
  const notOurs = (receiveMs ?? durationMs) + (queueMs ?? 0) + (retryWaitMs ?? 0) + upstreamMs + clientMs
  const message = reading.errorMessage ?? (verdict.outcome === 'ok' ? null : (failure?.message ?? null))
  return {
    id: call.id,
    callType: call.type,
    endpoint: call.endpoint,
    method: call.method,
    stream: ended.stream,
    model: ended.model,
    responseModel: stored(reading.responseModel),
    serviceTier: stored(reading.serviceTier),
    upstream: ended.upstream,
    instance: ended.instance,
    status: verdict.status,
    outcome: verdict.outcome,
    failureCode: verdict.failureCode,
    upstreamErrorCode: stored(reading.upstreamErrorCode),
    errorMessage: message === null ? null : storedText(message, longestMessage),
    finishReason: stored(reading.finishReason),
    attempts: timeline.attempts,
    clientRetry: call.clientRetry,
    receiveMs,
    queueMs,
    retryWaitMs,
    connectMs: between(timeline.dispatchedAt, timeline.startedAt),
    ttfbMs: between(timeline.dispatchedAt, timeline.answeredAt),
    durationMs,
    overheadMs: Math.max(0, durationMs - notOurs),
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
    upstreamRequestId:
      reading.upstreamRequestId === null ? null : storedText(reading.upstreamRequestId, longestMessage),
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

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from
}
