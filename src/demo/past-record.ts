import { importedIdAt } from '../call/call-id.ts'
import { blankRecord, type StoredCall } from '../call/call-record.ts'
import { quantileOf } from '../lib/histogram.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { CompletionRequest } from './completion-request.ts'
import type { DemoCall } from './demo-clients.ts'
import { type Random, between, drawFrom } from './random.ts'
import type { SimulatedFault } from './simulated-fault.ts'

/** The circumstances of a past call, beside request and answer. */
export interface PastRequest {
  readonly call: DemoCall
  readonly client: string
  readonly upstream: string
  readonly startMs: number
  readonly queueMs: number
  /** The client's retry: 0 for its first try. */
  readonly retry: number
  readonly fault: SimulatedFault | null
  readonly random: Random
}

/** The answer of a past call. */
export interface PastAnswer {
  readonly callType: 'chat' | 'embedding' | 'props'
  readonly model: string | null
  readonly stream: boolean
  /** Time (ms) from dispatch to the beginning of the answer. */
  readonly beginsMs: number
  readonly endsMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly completion: { readonly request: CompletionRequest; readonly plan: CompletionPlan } | null
  readonly requestBytes: number
}

/** The import's name, which marks each of these calls. */
export const pastSource = 'demo'

const refusals = {
  rate_limited: [429, 'rate_limit_exceeded', 'Simulated: too many requests, try again soon.'],
  server_error: [500, 'server_error', 'Simulated: the server had an error.'],
} as const

const eventBytes = 220
const usBetween = (random: Random, low: number, high: number): number => round(between(random, low, high))
const round = (ms: number): number => Math.round(ms * 1000) / 1000

/** The row that a gateway would have written for the call. */
export function pastRecord(past: PastRequest, answer: PastAnswer): StoredCall {
  const { call, client, upstream, startMs, queueMs, retry, fault, random } = past
  const { endsMs, beginsMs, model, callType, requestBytes } = answer
  const { leaveAfterMs = Number.POSITIVE_INFINITY } = call
  const overheadMs = usBetween(random, 0.2, 0.9)
  const head = {
    ...blankRecord(),
    id: importedIdAt(Math.round(startMs), Math.floor(random() * 2 ** 32)),
    callType,
    endpoint: `/v1${call.path}`,
    method: call.body === undefined ? 'GET' : 'POST',
    stream: answer.stream,
    model,
    upstream,
    instance: pastSource,
    source: pastSource,
    attempts: 1,
    clientRetry: retry === 0 ? null : retry,
    receiveMs: usBetween(random, 0.1, 0.5),
    queueMs: round(queueMs),
    retryWaitMs: 0,
    connectMs: usBetween(random, 0.05, 0.6),
    overheadMs,
    requestBytes,
    client,
    userAgent: 'node',
    session: call.session ?? null,
    sessionSource: call.session === undefined ? null : 'x-tokenweir-session',
  }
  const lasting = (ms: number): number => round(queueMs + ms + overheadMs)
  if (fault === 'rate_limited' || fault === 'server_error') {
    const [status, upstreamErrorCode, errorMessage] = refusals[fault]
    const failed = { outcome: 'upstream_error', failureCode: 'upstream_http' } as const
    const reported = { status, upstreamErrorCode, errorMessage, responseBytes: errorMessage.length + 84 }
    return { ...head, ...failed, ...reported, ttfbMs: round(beginsMs), durationMs: lasting(beginsMs) }
  }
  const isLeft = queueMs + endsMs > leaveAfterMs
  const isBroken = fault === 'broken' && callType === 'chat'
  const stopsMs = isLeft
    ? Math.max(0, leaveAfterMs - queueMs)
    : isBroken
      ? beginsMs + (endsMs - beginsMs) * between(random, 0.25, 0.75)
      : endsMs
  const end = isLeft
    ? ({
        outcome: 'client_disconnected',
        failureCode: 'client_gone',
        errorMessage: 'The client left.',
      } as const)
    : isBroken
      ? ({ outcome: 'upstream_cut', failureCode: 'upstream_reset', errorMessage: 'socket hang up' } as const)
      : ({ outcome: 'ok' } as const)
  const isComplete = end.outcome === 'ok'
  const firstByteMs = answer.stream ? beginsMs : endsMs
  const hasBegun = firstByteMs <= stopsMs
  return {
    ...head,
    ...end,
    status: hasBegun ? 200 : isLeft ? 499 : 502,
    responseModel: hasBegun ? model : null,
    ttfbMs: hasBegun ? round(firstByteMs) : null,
    durationMs: lasting(stopsMs),
    ...(answer.completion === null ? {} : completionFields(answer, answer.completion, stopsMs, isComplete)),
    ...(isComplete && callType !== 'props' ? usageFields(answer) : {}),
    responseBytes: hasBegun ? responseBytesOf(answer, stopsMs) : 0,
  }
}

function usageFields({ inputTokens, outputTokens, completion }: PastAnswer): Partial<StoredCall> {
  const tokens = completion?.plan.tokens ?? []
  return {
    usageSource: 'usage',
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: completion?.request.cachedTokens ?? 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: tokens.filter(({ kind }) => kind === 'reasoning').length,
  }
}

function completionFields(
  { stream }: PastAnswer,
  { request, plan }: NonNullable<PastAnswer['completion']>,
  stopsMs: number,
  isComplete: boolean,
): Partial<StoredCall> {
  const ended = isComplete ? { finishReason: plan.finishReason } : {}
  const called =
    isComplete && request.tool !== null ? { toolCalls: 1, tools: request.tool.name } : { toolCalls: 0 }
  const sent = plan.tokens.filter(({ atMs }) => atMs <= stopsMs)
  const first = sent[0]
  if (!stream || first === undefined) return { ...ended, ...called }
  const gaps = Float64Array.from(sent.slice(1), ({ atMs }, i) => atMs - (sent[i]?.atMs ?? 0)).sort()
  const at = (part: number): number | null => {
    const gapMs = quantileOf(gaps.length, part, (rank) => gaps[rank] ?? 0)
    return gapMs === null ? null : round(gapMs)
  }
  const lastMs = sent.at(-1)?.atMs ?? 0
  const firstVisible = sent.find(({ kind }) => kind !== 'reasoning')
  return {
    ...ended,
    ...called,
    ttftMs: round(first.atMs),
    ttfoMs: firstVisible === undefined ? null : round(firstVisible.atMs),
    tpotMs: isComplete && gaps.length > 0 ? round((lastMs - first.atMs) / gaps.length) : null,
    chunks: sent.length,
    gapP50Ms: at(0.5),
    gapP95Ms: at(0.95),
    gapMaxMs: at(1),
    stalls: gaps.filter((gap) => gap > 1000).length,
  }
}

function responseBytesOf({ stream, completion, outputTokens }: PastAnswer, stopsMs: number): number {
  if (completion === null) return 1500
  const sent = completion.plan.tokens.filter(({ atMs }) => atMs <= stopsMs).length
  return stream ? 400 + eventBytes * sent : 400 + 6 * outputTokens
}

/** A client's wait before its next try, in milliseconds. */
export function retryAfterMs(retry: number, random: Random): number {
  return drawFrom(random, { median: 1500 * 2 ** retry })
}
