import type { CallType } from '../call/call.ts'
import { idsPerMs } from '../call/call-id.ts'
import { blankRecord, type StoredCall } from '../call/call-record.ts'
import { type IncidentKind, type PastFailure, drawFailure, drawRefusal, leaving } from './past-failures.ts'
import type { PastGateway } from './past-gateway.ts'
import { type LogNormal, type Random, between, drawFrom } from './random.ts'

/** A model of a past, with medians of times and lengths. */
export interface PastModel {
  /** Empty for calls without a model, such as those that ask for the list of models. */
  readonly id: string
  /** The model's name in answers (default: `id`). */
  readonly answersAs?: string
  readonly callType: CallType
  readonly endpoint: string
  readonly upstream: string
  /** Until the first token of a chat, or until the whole answer of anything else. */
  readonly firstTokenMs: number
  /** Absent where the answer comes in one piece. */
  readonly tokensPerS?: number
  readonly outputTokens?: number
  /** Tokens of reasoning before the answer; 0 for none. */
  readonly reasoningTokens?: number
  /** The upstream reports timings in place of usage, as llama.cpp does. */
  readonly hasTimings?: boolean
}

/** A call as its client means it. */
export interface PastRequest {
  readonly model: PastModel
  readonly stream: boolean
  readonly promptTokens: number
  readonly cachedTokens: number
  /** The tool that the answer asks for. */
  readonly tool?: string | null
  readonly session?: string | null
  /** When the client loses patience and leaves (default: it waits for the end). */
  readonly leaveAfterMs?: number
  /** Which try of the client's it is: 0 is the first. */
  readonly retry?: number
}

/** The caller and the circumstances of a past call. */
export interface PastMoment {
  readonly random: Random
  readonly startMs: number
  /** Tells calls of the same millisecond apart. */
  readonly serial: number
  readonly caller: Partial<StoredCall>
  readonly gateway: PastGateway
  /** The incidents of the call's upstream and model. */
  readonly incidents: readonly IncidentKind[]
  /** Calls of this minute ÷ calls of an average one. */
  readonly load: number
}

type Draft = { -readonly [Name in keyof StoredCall]: StoredCall[Name] }

const mostWaitMs = 30_000

/** Makes a call up: the row that a gateway would have written. */
export function pastCall(request: PastRequest, moment: PastMoment): StoredCall {
  const { model, stream, promptTokens, session = null, retry = 0, leaveAfterMs = Infinity } = request
  const { random, startMs, serial, incidents, gateway } = moment
  const answer = new PastAnswer(model, random, incidents.includes('slow') ? between(random, 3.5, 5.5) : 1)
  const waitMs = gateway.waitMs(startMs)
  const drawn = waitMs > mostWaitMs ? drawRefusal(random) : drawFailure(random, { ...moment, stream })
  const queueMs =
    between(random, 0.001, 0.012) + (drawn?.failureCode === 'queue_full' ? 0 : Math.min(waitMs, mostWaitMs))
  const patienceMs = Math.max(0, leaveAfterMs - queueMs)
  const failure = drawn ?? (patienceMs < answer.endsMs ? leaving : null)
  const receiveMs = drawFrom(random, { median: 0.13, sigma: 0.6 })
  const overheadMs = between(random, 0.18, 0.42)
  const record: Draft = {
    ...blankRecord(),
    ...moment.caller,
    id: Math.floor(startMs) * idsPerMs + (serial % idsPerMs),
    callType: model.callType,
    endpoint: model.endpoint,
    method: model.id === '' ? 'GET' : 'POST',
    stream,
    model: model.id === '' ? null : model.id,
    upstream: model.upstream,
    instance: gateway.instance,
    attempts: failure?.at === 'gateway' ? 0 : 1,
    clientRetry: retry === 0 ? null : retry,
    requestBytes: model.id === '' ? 0 : 300 + promptTokens * 4,
    session,
    sessionSource: session === null ? null : 'x-tokenweir-session',
  }
  if (failure !== null) {
    record.outcome = failure.outcome
    record.failureCode = failure.failureCode
    record.upstreamErrorCode = failure.upstreamErrorCode
    record.errorMessage = failure.errorMessage
    record.status = failure.status
    record.responseBytes = 240
    if (failure.at === 'nobody') return { ...record, durationMs: null, responseBytes: 0 }
  }
  const isLeft = failure === leaving
  const stopsMs = isLeft ? patienceMs : failure === null ? answer.endsMs : stopOf(failure, answer, random)
  record.receiveMs = receiveMs
  record.queueMs = queueMs
  record.overheadMs = overheadMs
  record.retryWaitMs = 0
  record.durationMs = receiveMs + queueMs + stopsMs + overheadMs
  if (failure?.at === 'gateway') return record
  gateway.take(startMs, startMs + queueMs, startMs + queueMs + stopsMs)
  if (failure?.at === 'head') {
    record.ttfbMs = stopsMs
    return record
  }
  const firstByteMs = stream ? answer.beginsMs * 0.97 : answer.endsMs
  if (firstByteMs > stopsMs) {
    record.status ??= isLeft ? 499 : 502
    record.responseBytes = 0
    return record
  }
  record.status ??= 200
  record.ttfbMs = firstByteMs
  if (random() < 0.04) record.connectMs = drawFrom(random, { median: 22, sigma: 0.5 })
  addAnswer(record, request, answer, stopsMs, random)
  return record
}

/** When a call that fails ends, after its dispatch. */
function stopOf({ at }: PastFailure, { endsMs }: PastAnswer, random: Random): number {
  if (at === 'answer') return endsMs * between(random, 0.2, 1)
  return at === 'head' ? between(random, 20, 200) : 0.15
}

/** An answer as it would be if nothing broke it off: tokens, and times since the dispatch. */
class PastAnswer {
  readonly beginsMs: number
  readonly endsMs: number
  readonly tokenMs: number
  readonly tokens: number
  readonly reasoningTokens: number

  constructor(model: PastModel, random: Random, slower: number) {
    const { firstTokenMs, tokensPerS, outputTokens = 0, reasoningTokens = 0 } = model
    const lengthOf = (median: number): number => Math.ceil(drawFrom(random, { median, sigma: 0.8 }))
    this.reasoningTokens = reasoningTokens > 0 && random() < 0.9 ? lengthOf(reasoningTokens) : 0
    this.tokens = this.reasoningTokens + (outputTokens > 0 ? lengthOf(outputTokens) : 0)
    this.tokenMs = tokensPerS === undefined ? 0 : slower * drawFrom(random, { median: 1000 / tokensPerS })
    this.beginsMs = slower * heavyTail(random, { median: firstTokenMs, sigma: 0.5 })
    this.endsMs = this.beginsMs + this.tokenMs * Math.max(0, this.tokens - 1)
  }
}

/** Adds the answer up to where it stopped; the usage comes with the end of a call that went well. */
function addAnswer(
  record: Draft,
  { model, tool = null, promptTokens, cachedTokens }: PastRequest,
  { beginsMs, endsMs, tokenMs, tokens, reasoningTokens }: PastAnswer,
  stopsMs: number,
  random: Random,
): void {
  const isComplete = record.outcome === 'ok'
  const hasUsage = isComplete && (!record.stream || random() < 0.94)
  const chunks = stopsMs >= endsMs ? tokens : Math.max(0, 1 + Math.floor((stopsMs - beginsMs) / tokenMs))
  record.responseBytes = model.callType === 'embedding' ? 21_000 : 700 + chunks * (record.stream ? 240 : 4)
  if (model.id === '') return
  record.responseModel = model.answersAs ?? model.id
  if (record.stream && stopsMs >= beginsMs) {
    record.ttftMs = beginsMs
    record.ttfoMs = chunks > reasoningTokens ? beginsMs + reasoningTokens * tokenMs : null
    record.chunks = chunks
    const gapMs = tokenMs * between(random, 1, 1.2)
    record.gapMaxMs = chunks < 2 ? null : heavyTail(random, { median: gapMs * 3, sigma: 0.8 })
    record.gapP50Ms = chunks < 2 ? null : gapMs
    record.gapP95Ms = chunks < 2 ? null : gapMs * 1.7
    record.stalls = (record.gapMaxMs ?? 0) > 1000 ? 1 : 0
    // Without usage the number of tokens is unknown.
    record.tpotMs = hasUsage && chunks > 1 ? tokenMs : null
  }
  if (!isComplete) return
  if (model.callType === 'chat') {
    record.finishReason = tool === null ? (random() < 0.95 ? 'stop' : 'length') : 'tool_calls'
    record.toolCalls = tool === null ? 0 : 1
    record.tools = tool
  }
  if (model.callType === 'rerank') record.searchUnits = 1
  if (!hasUsage) return
  record.usageSource = model.hasTimings === true ? 'timings' : 'usage'
  record.inputTokens = promptTokens
  record.outputTokens = tokens
  record.totalTokens = promptTokens + tokens
  record.cachedInputTokens = cachedTokens
  record.cacheWriteTokens = 0
  record.cacheWrite1hTokens = 0
  record.reasoningTokens = reasoningTokens
}

/** Returns a value near the median, but one time in thirty several times as much, like an upstream under load. */
function heavyTail(random: Random, spread: LogNormal): number {
  const value = drawFrom(random, spread)
  return random() < 1 / 30 ? value * between(random, 3, 12) : value
}
