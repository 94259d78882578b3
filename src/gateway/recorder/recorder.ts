import type { CallDraft } from '../../call/call-record.ts'
import type { CallTimeline } from './call-timeline.ts'
import { longestMessage } from '../../call/error-message.ts'
import { storedText } from './stored-text.ts'
import { type CallEnd, settle } from './settle.ts'

/** Longest name of a tool, in characters. */
const longestTool = 64

/**
 * Completes the record of an ended call, which already has the figures of the answer. `label` makes words of
 * an upstream fit to be stored.
 */
export function completeRecord(
  record: CallDraft,
  timeline: CallTimeline,
  end: CallEnd,
  label: (text: string) => string,
): void {
  const stored = (text: string | null): string | null => (text === null ? null : label(text))
  const { outcome, failureCode, status } = settle(end)
  record.outcome = outcome
  record.failureCode = failureCode
  record.status = status
  record.responseModel = stored(record.responseModel)
  record.serviceTier = stored(record.serviceTier)
  record.upstreamErrorCode = stored(record.upstreamErrorCode)
  record.finishReason = stored(record.finishReason)
  record.tools = record.tools === null ? null : storedTools(record.tools)
  const message = record.errorMessage ?? (record.outcome === 'ok' ? null : (end.failure?.message ?? null))
  record.errorMessage = message === null ? null : storedText(message, longestMessage)
  const id = record.upstreamRequestId
  record.upstreamRequestId = id === null ? null : storedText(id, longestMessage)
  record.priceSource = record.costNanoUsd === null ? null : 'upstream'
  noteTimes(record, timeline)
}

function storedTools(names: string): string {
  return names
    .split(',')
    .map((name) => storedText(name, longestTool))
    .join(',')
}

function noteTimes(record: CallDraft, timeline: CallTimeline): void {
  const { receivedAt, bodyReadAt, dispatchedAt } = timeline
  const closedAt = timeline.closedAt ?? receivedAt
  const durationMs = closedAt - receivedAt
  record.attempts = timeline.attempts
  record.durationMs = durationMs
  record.receiveMs = between(receivedAt, bodyReadAt)
  // A call that was never admitted has waited until its end.
  record.queueMs = between(bodyReadAt, timeline.admittedAt ?? closedAt)
  // Without an answering attempt, all time since the first dispatch counts.
  record.retryWaitMs = between(timeline.firstDispatchAt, dispatchedAt ?? closedAt)
  record.connectMs = between(dispatchedAt, timeline.startedAt)
  record.ttfbMs = between(dispatchedAt, timeline.answeredAt)
  const upstreamMs = between(dispatchedAt, timeline.attemptOverAt ?? closedAt) ?? 0
  const clientMs = between(timeline.clientAloneFrom, closedAt) ?? 0
  const waitsMs = (record.receiveMs ?? durationMs) + (record.queueMs ?? 0) + (record.retryWaitMs ?? 0)
  record.overheadMs = Math.max(0, durationMs - waitsMs - upstreamMs - clientMs)
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from
}
