import type { CallDraft } from '../../call/call-record.ts'
import { longestMessage } from '../../call/error-message.ts'
import type { Failure, FailureCode } from '../../call/failure.ts'
import type { AnswerEnding, Outcome } from '../../call/outcome.ts'
import { storedText } from './stored-text.ts'

/** Longest name of a tool, in characters. */
const longestTool = 64

/**
 * When the steps of a call happened, in monotonic milliseconds; `null` for a step that was not reached. The
 * call and the relay write it, the recorder reads it.
 */
export class CallTimeline {
  /** The request's head was received. */
  readonly receivedAt: number
  /** The request's body was read, or needed no reading before the queue. */
  bodyReadAt: number | null = null
  /** The call got a slot, or needed none. */
  admittedAt: number | null = null
  /** The first attempt was handed to the transport. */
  firstDispatchAt: number | null = null
  /** The answering attempt was handed to the transport; `null` also between a lost attempt and the next. */
  dispatchedAt: number | null = null
  /** The connection of the answering attempt was ready. */
  startedAt: number | null = null
  /** The head of its answer arrived. */
  answeredAt: number | null = null
  /** The attempt ended, well or not. */
  attemptOverAt: number | null = null
  /** The last byte was handed to the client's connection, or that connection was gone. */
  closedAt: number | null = null
  /** From here on the call waited only for its client: the attempt had ended, and bytes were left to read. */
  clientAloneFrom: number | null = null
  attempts = 0

  constructor(receivedAt: number) {
    this.receivedAt = receivedAt
  }

  /** Begins a new attempt; the times of the last one no longer count. */
  attempt(now: number): void {
    this.attemptLost()
    this.attempts++
    this.firstDispatchAt ??= now
    this.dispatchedAt = now
  }

  /** The attempt is lost: the client gets nothing of it, and another one may follow. */
  attemptLost(): void {
    this.dispatchedAt = null
    this.startedAt = null
    this.answeredAt = null
    this.attemptOverAt = null
  }
}

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
interface Verdict {
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

/**
 * Completes the record of an ended call, which already has the figures of the answer. `label` makes words of
 * an upstream fit to be stored. `call` takes the call's own credentials out of an error, which may repeat them.
 */
export function completeRecord(
  record: CallDraft,
  timeline: CallTimeline,
  end: CallEnd,
  label: (text: string) => string,
  call: { masked(text: string): string },
): void {
  const { outcome, failureCode, status } = settle(end)
  record.outcome = outcome
  record.failureCode = failureCode
  record.status = status
  const { responseModel, serviceTier, upstreamErrorCode, finishReason } = record
  record.responseModel = responseModel === null ? null : label(responseModel)
  record.serviceTier = serviceTier === null ? null : label(serviceTier)
  record.upstreamErrorCode = upstreamErrorCode === null ? null : label(call.masked(upstreamErrorCode))
  record.finishReason = finishReason === null ? null : label(finishReason)
  record.tools = record.tools === null ? null : storedTools(record.tools)
  const message = record.errorMessage ?? (record.outcome === 'ok' ? null : (end.failure?.message ?? null))
  record.errorMessage = message === null ? null : storedText(call.masked(message), longestMessage)
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
