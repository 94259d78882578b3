import type { Call } from '../../call/call.ts'
import type { CallObserver, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'
import { type AnswerForm, readAnswerHead } from './answer-head.ts'
import { AnswerReader } from './answer-reader.ts'
import { contentCoding } from './content-coding.ts'
import { ContentDecoder } from './content-decoder.ts'
import type { AnswerEnding, MeterReading } from '../../call/meter-reading.ts'
import { ErrorText } from './error-text.ts'
import { noFigures } from './read-usage.ts'
import { ContentPace } from './content-pace.ts'
import { type SseReceiver, SseScanner } from './sse-scanner.ts'

/** Reads an answer's body, of whatever form, once its content coding is undone. */
interface BodyReader {
  data(chunk: Uint8Array, atMs: number): void
  end(isWhole: boolean): void
}

/**
 * Measures one call as its answer passes. Keeps nothing of what it sees but what the reading is made of; each
 * attempt starts a new reading.
 */
export class CallMeter implements CallObserver {
  readonly #call: Pick<Call, 'type' | 'method'>
  readonly #wantsStream: boolean
  #dispatchMs: number | null = null
  #status = 0
  #upstreamRequestId: string | null = null
  #isLlamaCpp = false
  #responseBytes = 0
  #reader: BodyReader | null = null
  /** What the reader is made of, by the form of the answer. */
  #stream: StreamMeter | null = null
  #answer: AnswerReader | null = null
  #text: ErrorText | null = null
  #decoder: ContentDecoder | null = null
  #over = false

  /** `wantsStream`: how to read an answer that does not say what it is. */
  constructor(call: Pick<Call, 'type' | 'method'>, wantsStream: boolean) {
    this.#call = call
    this.#wantsStream = wantsStream
  }

  requestStart(atMs: number): void {
    this.#dispatchMs = atMs
    this.#status = 0
    this.#upstreamRequestId = null
    this.#isLlamaCpp = false
    this.#responseBytes = 0
    this.#reader = null
    this.#stream = null
    this.#answer = null
    this.#text = null
    this.#decoder?.end()
    this.#decoder = null
    this.#over = false
  }

  responseStart(head: ResponseHead, _atMs: number): void {
    this.#status = head.status
    const { form, coding, upstreamRequestId, isLlamaCpp } = readAnswerHead(head.headers)
    this.#upstreamRequestId = upstreamRequestId
    this.#isLlamaCpp = isLlamaCpp
    const decoding = coding === null ? null : contentCoding(coding)
    if (coding !== null && decoding === null) return
    this.#open(form ?? (this.#wantsStream && head.status < 400 ? 'events' : 'json'))
    const reader = this.#reader
    if (decoding === null || reader === null) return
    const pace = this.#stream === null ? 'at-the-end' : 'as-it-comes'
    this.#decoder = new ContentDecoder(decoding, pace, (bytes, cameAtMs) => reader.data(bytes, cameAtMs))
  }

  data(chunk: Uint8Array, atMs: number): void {
    this.#responseBytes += chunk.length
    if (this.#decoder === null) this.#reader?.data(chunk, atMs)
    else this.#decoder.write(chunk, atMs)
  }

  end(_atMs: number): void {
    this.#finish(true)
  }

  error(_failure: Failure, _atMs: number): void {
    this.#finish(false)
  }

  /** When the reading is final, after `end` or `error`; `null` in the ordinary case: it is already. */
  settled(): Promise<void> | null {
    return this.#decoder === null ? null : this.#decoder.settled()
  }

  /** What is known; final once the attempt is over and `settled`. */
  reading(): MeterReading {
    const stream = this.#stream
    const answer = this.#answer
    // Counts of a stream that could only be read in part would be wrong ones.
    const whole = this.#decoder?.failed !== true
    const figures = (whole ? answer?.figures() : null) ?? noFigures
    const usage = figures.usage
    const ending = this.#ending(whole)
    const error = this.#status >= 400 || ending === 'stream_error' ? (answer?.error ?? null) : null
    const pace = stream?.pace ?? null
    const wholePace = whole ? pace : null
    const seenChunks = pace?.chunks ?? null
    const hiddenTokens = answer?.streamedReasoning === true ? 0 : (usage?.reasoningTokens ?? 0)
    const streamedTokens = (usage?.outputTokens ?? 0) - hiddenTokens
    const [gapP50Ms = null, gapP95Ms = null] = wholePace?.gapPercentiles([0.5, 0.95]) ?? []
    return {
      ttftMs: this.#sinceDispatch(pace?.firstAtMs ?? null),
      ttfoMs: this.#sinceDispatch(pace?.firstVisibleAtMs ?? null),
      tpotMs: figures.tpotMs ?? (wholePace === null ? null : tpotOf(wholePace, streamedTokens)),
      // What was read of a coded stream that its client left.
      chunks: whole || seenChunks !== 0 ? seenChunks : null,
      gapP50Ms,
      gapP95Ms,
      gapMaxMs: wholePace?.longestGapMs ?? null,
      stalls: wholePace?.stalls ?? null,
      usage,
      costNanoUsd: figures.costNanoUsd,
      searchUnits: figures.searchUnits,
      upstreamQueueMs: figures.queueMs,
      upstreamPromptMs: figures.promptMs,
      upstreamDecodeMs: figures.decodeMs,
      responseModel: answer?.model ?? null,
      serviceTier: answer?.serviceTier ?? figures.serviceTier,
      finishReason: answer?.finishReason ?? null,
      isLlamaCpp: this.#isLlamaCpp,
      upstreamRequestId: this.#upstreamRequestId ?? answer?.requestId ?? null,
      upstreamErrorCode: error?.code ?? null,
      errorMessage: error?.message ?? this.#text?.message ?? null,
      ending,
      responseBytes: this.#responseBytes,
      totalEvents: stream?.totalEvents ?? 0,
      parsedEvents: stream?.answer.parsedEvents ?? 0,
      usageEvents: stream?.answer.usageEvents ?? 0,
    }
  }

  #open(form: AnswerForm): void {
    if (form === 'events') {
      this.#reader = this.#stream = new StreamMeter(this.#call, this.#status)
      this.#answer = this.#stream.answer
    } else if (form === 'json') this.#reader = this.#answer = new AnswerReader(this.#call, this.#status)
    else if (form === 'text' && this.#status >= 400) this.#reader = this.#text = new ErrorText()
  }

  #finish(isWhole: boolean): void {
    if (this.#over) return
    this.#over = true
    const reader = this.#reader
    this.#decoder?.end()
    const settled = this.settled()
    if (settled === null) reader?.end(isWhole)
    else void settled.then(() => reader?.end(isWhole)).catch(() => undefined)
  }

  #ending(whole: boolean): AnswerEnding {
    const stream = this.#stream
    if (this.#status >= 400) return 'none'
    if (this.#answer?.failed === true && isInference(this.#call.type)) return 'stream_error'
    if (stream === null || this.#call.type !== 'chat') return 'none'
    if (stream.answer.marked) return 'complete'
    return whole && !stream.isPartial ? 'truncated' : 'none'
  }

  #sinceDispatch(atMs: number | null): number | null {
    return atMs === null || this.#dispatchMs === null ? null : atMs - this.#dispatchMs
  }
}

/** Only of these is an `error` in the answer the call's own failure; a file or a batch may just report one. */
function isInference(callType: Call['type']): boolean {
  return callType === 'chat' || callType === 'embedding' || callType === 'rerank'
}

/** Faster than this nothing decodes: it is a text that was there already. */
const leastTpotMs = 0.1

/**
 * The time per token after the first, as the content came. `null` where it came bunched: where of the tokens after the
 * first one, spread evenly over the chunks, over a third came in the first tenth of the time. They were made before
 * the first content, and the time without them would be over 1.5 times too short.
 */
function tpotOf(pace: ContentPace, tokens: number): number | null {
  if (tokens < 2) return null
  const early = tokens * pace.chunksWithin(1 / 10) - 1
  if (early > (tokens - 1) / 3) return null
  const tpotMs = ((pace.lastAtMs ?? 0) - (pace.firstAtMs ?? 0)) / (tokens - 1)
  return tpotMs < leastTpotMs ? null : tpotMs
}

/** Measures an answer that is a stream of events: what it says, and when its content came. */
class StreamMeter implements SseReceiver {
  readonly answer: AnswerReader
  readonly pace: ContentPace = new ContentPace()
  readonly #scanner: SseScanner = new SseScanner(this)
  #atMs = 0
  /** Events with data. */
  totalEvents = 0

  constructor(call: Pick<Call, 'type' | 'method'>, status: number) {
    this.answer = new AnswerReader(call, status)
  }

  /** Whether an event was too long to be read: what is not seen may be in it. */
  get isPartial(): boolean {
    return this.#scanner.skippedEvents > 0
  }

  data(chunk: Uint8Array, atMs: number): void {
    this.#atMs = atMs
    this.#scanner.push(chunk)
  }

  end(isWhole: boolean): void {
    if (isWhole) this.#scanner.finish()
  }

  event(bytes: Buffer, start: number, end: number, isError: boolean): void {
    this.totalEvents++
    const content = this.answer.event(bytes, start, end, isError)
    if (content !== 'none') this.pace.add(this.#atMs, content === 'visible')
  }

  errorField(bytes: Buffer, start: number, end: number): void {
    this.answer.errorField(bytes, start, end)
  }
}
