import type { CallDraft } from '../../call/call-record.ts'
import type { Call, CallType } from '../../call/call.ts'
import type { CallObserver, ResponseHead } from '../../call/call-observer.ts'
import { readAnswerHead } from './answer-head.ts'
import { AnswerReader } from './answer-reader.ts'
import { contentCoding } from './content-coding.ts'
import { ContentDecoder } from './content-decoder.ts'
import type { AnswerEnding } from '../../call/outcome.ts'
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
 * Measures the answer to one attempt as it passes. Keeps nothing of what it sees but what the record is filled with. A
 * fault of its own ends the measuring, never the call.
 */
export class CallMeter implements CallObserver {
  readonly #call: Pick<Call, 'callType' | 'method'>
  readonly #wantsStream: boolean
  readonly #onFault: (error: unknown) => void
  readonly #dispatchMs: number
  #status = 0
  #upstreamRequestId: string | null = null
  /** The answer's `Server` is llama.cpp. */
  isLlamaCpp = false
  #responseBytes = 0
  #reader: BodyReader | null = null
  /** What the reader is made of, by the form of the answer. */
  #stream: StreamMeter | null = null
  #answer: AnswerReader | null = null
  #text: ErrorText | null = null
  #decoder: ContentDecoder | null = null

  /**
   * `wantsStream`: how to read an answer that does not say what it is. `dispatchMs`: when the attempt was handed to the
   * transport. `onFault` must not throw.
   */
  constructor(
    call: Pick<Call, 'callType' | 'method'>,
    wantsStream: boolean,
    dispatchMs: number,
    onFault: (error: unknown) => void,
  ) {
    this.#call = call
    this.#wantsStream = wantsStream
    this.#dispatchMs = dispatchMs
    this.#onFault = onFault
  }

  /** Events with data. */
  get totalEvents(): number {
    return this.#stream?.totalEvents ?? 0
  }

  /** Those of them of which something had to be parsed as JSON. */
  get parsedEvents(): number {
    return this.#stream?.answer.parsedEvents ?? 0
  }

  /** Events that reported token counts, or times per token, other than zero. */
  get usageEvents(): number {
    return this.#stream?.answer.usageEvents ?? 0
  }

  /** How the answer ended; final once the attempt is over and `settled`. */
  get ending(): AnswerEnding {
    const stream = this.#stream
    if (this.#status >= 400) return 'none'
    if (this.#answer?.failed === true && isInference(this.#call.callType)) return 'stream_error'
    if (stream === null || this.#call.callType !== 'chat') return 'none'
    if (stream.answer.marked) return 'complete'
    return this.#isWhole && !stream.isPartial ? 'truncated' : 'none'
  }

  responseStart(head: ResponseHead): void {
    this.#status = head.status
    try {
      this.#open(head)
    } catch (error) {
      this.#fail(error)
    }
  }

  data(chunk: Uint8Array, atMs: number): void {
    this.#responseBytes += chunk.length
    try {
      if (this.#decoder === null) this.#reader?.data(chunk, atMs)
      else this.#decoder.write(chunk, atMs)
    } catch (error) {
      this.#fail(error)
    }
  }

  end(isWhole: boolean): void {
    const reader = this.#reader
    try {
      this.#decoder?.end()
      const settled = this.settled()
      if (settled === null) reader?.end(isWhole)
      else void settled.then(() => reader?.end(isWhole)).catch(this.#onFault)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** When the reading is final, after `end`; `null` in the ordinary case: it is already. */
  settled(): Promise<void> | null {
    return this.#decoder === null ? null : this.#decoder.settled()
  }

  /** Writes what is known into the record; final once the attempt is over and `settled`. */
  complete(record: CallDraft): void {
    const stream = this.#stream
    const answer = this.#answer
    const whole = this.#isWhole
    const figures = (whole ? answer?.figures() : null) ?? noFigures
    Object.assign(record, figures)
    record.serviceTier = answer?.serviceTier ?? figures.serviceTier
    const error = this.#status >= 400 || this.ending === 'stream_error' ? (answer?.error ?? null) : null
    record.upstreamErrorCode = error?.code ?? null
    record.errorMessage = error?.message ?? this.#text?.message ?? null
    record.responseModel = answer?.model ?? null
    record.finishReason = answer?.finishReason ?? null
    record.upstreamRequestId = this.#upstreamRequestId ?? answer?.requestId ?? null
    record.responseBytes = this.#responseBytes
    if (stream === null) return
    const { pace } = stream
    record.ttftMs = this.#sinceDispatch(pace.firstAtMs)
    record.ttfoMs = this.#sinceDispatch(pace.firstVisibleAtMs)
    // What was read of a coded stream that its client left.
    record.chunks = whole || pace.chunks > 0 ? pace.chunks : null
    if (!whole) return
    const hiddenTokens = stream.answer.streamedReasoning ? 0 : (figures.reasoningTokens ?? 0)
    record.tpotMs ??= tpotOf(pace, (figures.outputTokens ?? 0) - hiddenTokens)
    const [gapP50Ms = null, gapP95Ms = null] = pace.gapPercentiles([0.5, 0.95])
    record.gapP50Ms = gapP50Ms
    record.gapP95Ms = gapP95Ms
    record.gapMaxMs = pace.longestGapMs
    record.stalls = pace.stalls
  }

  /** Counts of a stream that could only be read in part would be wrong ones. */
  get #isWhole(): boolean {
    return this.#decoder?.failed !== true
  }

  #open({ status, headers }: ResponseHead): void {
    const { form, coding, upstreamRequestId, isLlamaCpp } = readAnswerHead(headers)
    this.#upstreamRequestId = upstreamRequestId
    this.isLlamaCpp = isLlamaCpp
    const decoding = coding === null ? null : contentCoding(coding)
    if (coding !== null && decoding === null) return
    switch (form ?? (this.#wantsStream && status < 400 ? 'events' : 'json')) {
      case 'events':
        this.#reader = this.#stream = new StreamMeter(this.#call, status)
        this.#answer = this.#stream.answer
        break
      case 'json':
        this.#reader = this.#answer = new AnswerReader(this.#call, status)
        break
      case 'text':
        if (status >= 400) this.#reader = this.#text = new ErrorText()
    }
    const reader = this.#reader
    if (decoding === null || reader === null) return
    const pace = this.#stream === null ? 'at-the-end' : 'as-it-comes'
    this.#decoder = new ContentDecoder(decoding, pace, (bytes, cameAtMs) => reader.data(bytes, cameAtMs))
  }

  #fail(error: unknown): void {
    this.#reader = null
    this.#decoder = null
    this.#onFault(error)
  }

  #sinceDispatch(atMs: number | null): number | null {
    return atMs === null ? null : atMs - this.#dispatchMs
  }
}

/** Only of these is an `error` in the answer the call's own failure; a file or a batch may just report one. */
function isInference(callType: CallType): boolean {
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

  constructor(call: Pick<Call, 'callType' | 'method'>, status: number) {
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
