import type { CallDraft } from '../../call/call-record.ts'
import type { Call, CallType } from '../../call/call.ts'
import type { ResponseHead } from '../../call/response-head.ts'
import { noBytes } from '../../lib/byte-gather.ts'
import { type AnswerForm, type BegunForm, formBegunBy, readAnswerHead } from './answer-form.ts'
import { AnswerEvents } from './answer-events.ts'
import { longestParsed } from './answer-shape.ts'
import { AnswerReader } from './answer-reader.ts'
import { contentCoding } from '../../lib/http/content-coding.ts'
import { ContentDecoder } from './content-decoder.ts'
import type { AnswerEnding } from '../../call/outcome.ts'
import { ErrorText } from './read-error.ts'
import { amount, nanoPerUsd, noFigures, noteFigures } from './read-usage.ts'
import type { BackgroundResponses } from './background-responses.ts'
import type { ContentPace } from './content-pace.ts'

/**
 * Measures the answer to one attempt as it passes, and keeps only the values for the record. An error in the
 * meter ends the measuring, never the call.
 */
export class CallMeter {
  readonly #call: Pick<Call, 'callType' | 'method'>
  readonly #wantsStream: boolean
  readonly #onFault: (error: unknown) => void
  readonly #dispatchMs: number
  /** Status of the answer; 0 before it. Set only here. */
  status = 0
  #upstreamRequestId: string | null = null
  /** The answer's `Server` is llama.cpp. */
  isLlamaCpp = false
  /** Body bytes so far. Only the meter sets it. */
  responseBytes = 0
  /** Bytes of the body by `Content-Length`; null without it, or for a coded body. */
  #announcedBytes: number | null = null
  #answer: AnswerReader | null = null
  /** The reader of a stream of events; null for other answers. */
  #events: AnswerEvents | null = null
  /** The reader of an error that is plain text; null for other answers. */
  #text: ErrorText | null = null
  #decoder: ContentDecoder | null = null
  /** The cost in dollars that a LiteLLM proxy reports in a header; null without one. */
  #headerCost: number | null = null
  /** True while the first bytes have to decide the form, because the answer's type is not the requested one. */
  #isUndecided = false
  /** The first bytes, while they are ambiguous. */
  #firstBytes = noBytes
  #hasFailed = false
  /** True if the answer's HTTP message is complete. */
  #isMessageComplete = false
  /** True if the answer is text for people. */
  #isWords = false
  /** Bytes of that text. A long text may be an answer. */
  #wordBytes = 0

  /**
   * `wantsStream`: how to read an answer without a content type. `dispatchMs`: when the attempt went to the
   * transport (monotonic). `onFault` must not throw.
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

  /** Content chunks so far. */
  get chunks(): number {
    return this.#events?.pace.chunks ?? 0
  }

  /** When the first content chunk came (monotonic ms); null before it. */
  get firstContentAtMs(): number | null {
    return this.#events?.pace.firstAtMs ?? null
  }

  /** Events that reported token counts, or times per token, other than zero. */
  get usageEvents(): number {
    return this.#answer?.usageEvents ?? 0
  }

  /** The end of the answer; final once the attempt has ended and `settled`. */
  get answerEnding(): AnswerEnding {
    const { callType } = this.#call
    if (this.status >= 400) return 'none'
    if (this.#answer?.failed === true && isInference(callType)) return 'stream_error'
    const isStream = this.#events !== null && callType === 'chat'
    // The skipped event may have been the end mark.
    if (isStream && this.#answer?.marked !== true)
      return this.#isComplete && this.#events?.hasSkipped === false ? 'truncated' : 'none'
    if (this.#isMessageComplete && this.#isNoAnswer) return 'empty'
    if (this.#isMessageComplete && this.#isComplete && this.#isInference && this.#answer?.isCut === true)
      return 'truncated'
    return isStream ? 'complete' : 'none'
  }

  /**
   * True if the answer has no content for such a call: no bytes, only text for people, no choices, or only an
   * end mark.
   */
  get #isNoAnswer(): boolean {
    if (!this.#isInference || this.status >= 300) return false
    if (this.responseBytes === 0) return true
    return (
      this.#isComplete &&
      ((this.#isWords && this.#wordBytes <= longestParsed) || this.#answer?.isEmpty === true)
    )
  }

  get #isInference(): boolean {
    return this.#call.method === 'POST' && isInference(this.#call.callType)
  }

  /** Reads the head of the answer. */
  responseStart(head: ResponseHead): void {
    this.status = head.status
    try {
      this.#open(head)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Reads body bytes, exactly as received. A chunk is not kept: a view would keep the whole network buffer in memory. */
  data(chunk: Uint8Array, atMs: number): void {
    this.responseBytes += chunk.length
    try {
      if (this.#decoder === null) this.#read(chunk, atMs)
      else this.#decoder.write(chunk, atMs)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Call it when the attempt has ended: the answer is complete, or the attempt failed or was aborted. */
  end(isComplete: boolean): void {
    this.#isMessageComplete = isComplete
    try {
      this.#decoder?.end()
      const settled = this.settled()
      if (settled === null) this.#end(isComplete)
      else void settled.then(() => this.#end(isComplete)).catch(this.#onFault)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Resolves when the reading is final, after `end`; `null` if it is final already, which is usual. */
  settled(): Promise<void> | null {
    return this.#decoder === null ? null : this.#decoder.settled()
  }

  /** True if the answer reports more than one call can have used; known once the record is complete. */
  get isImplausible(): boolean {
    return this.#answer?.isImplausible === true
  }

  /**
   * Writes the measured values into the record; final once the attempt has ended and `settled`.
   * `tokensAsked`: most output tokens that the call allows; 0 without a bound. `background`: background
   * responses of the upstreams. `named`: the id of the response in the call's path.
   */
  complete(
    record: CallDraft,
    tokensAsked: number = 0,
    background: BackgroundResponses | null = null,
    named: string | null = null,
  ): void {
    const answer = this.#answer
    const pace = this.#events?.pace ?? null
    const isComplete = this.#isComplete
    const isRead = answer !== null && isComplete
    const answerFigures = isRead ? answer.figures(tokensAsked) : noFigures
    const isAccepted = isRead && background !== null && this.status < 400
    const figures = isAccepted ? background.figures(answerFigures, answer, record, named) : answerFigures
    noteFigures(record, figures)
    record.costNanoUsd ??= this.#headerCost
    record.serviceTier = answer?.serviceTier ?? figures.serviceTier
    const { answerEnding } = this
    const isError = this.status >= 400 || answerEnding === 'stream_error' || answerEnding === 'empty'
    const error = isError ? (answer?.error ?? null) : null
    record.upstreamErrorCode = error?.code ?? null
    record.errorMessage = error?.message ?? this.#text?.message ?? null
    record.responseModel = answer?.model ?? null
    record.finishReason = answer?.finishReason ?? null
    record.upstreamRequestId = this.#upstreamRequestId ?? answer?.requestId ?? null
    if (answer !== null && isComplete && this.status < 400 && this.#call.callType === 'chat') {
      record.toolCalls = answer.tools?.count ?? 0
      record.tools = answer.tools?.names ?? null
    }
    record.responseBytes = this.responseBytes
    if (pace === null) return
    record.ttftMs = this.#sinceDispatch(pace.firstAtMs)
    record.ttfoMs = this.#sinceDispatch(pace.firstVisibleAtMs)
    // If the client left, the part of a coded stream that was read counts.
    record.chunks = isComplete || pace.chunks > 0 ? pace.chunks : null
    if (!isComplete) return
    const hiddenReasoning = answer?.streamedReasoning === true ? 0 : (figures.reasoningTokens ?? 0)
    const hiddenTokens = hiddenReasoning + figures.hiddenTokens
    record.tpotMs ??= tpotOf(pace, (figures.outputTokens ?? 0) - hiddenTokens)
    const [gapP50Ms = null, gapP95Ms = null] = pace.gapPercentiles(gapQuantiles)
    record.gapP50Ms = gapP50Ms
    record.gapP95Ms = gapP95Ms
    record.gapMaxMs = pace.longestGapMs
    record.stalls = pace.stalls
  }

  /** True if the whole answer could be read. Counts of a partly read stream would be wrong. */
  get #isComplete(): boolean {
    return this.#decoder?.failed !== true
  }

  #open({ status, headers, contentLength }: ResponseHead): void {
    const { form, coding, upstreamRequestId, isLlamaCpp, cost } = readAnswerHead(headers)
    const usd = amount(cost)
    if (usd !== null && usd > 0) this.#headerCost = Math.round(usd * nanoPerUsd)
    this.#upstreamRequestId = upstreamRequestId
    this.isLlamaCpp = isLlamaCpp
    const decoding = coding === null ? null : contentCoding(coding)
    if (coding !== null && decoding === null) return
    if (decoding === null) this.#announcedBytes = contentLength
    const isAccepted = status < 400
    const read = form ?? (isAccepted && this.#wantsStream ? 'events' : 'json')
    const isAsked = form === 'events' || (form === 'json' && !this.#wantsStream)
    this.#isUndecided = isAccepted && !isAsked && this.#isInference && !this.#isBinary(form)
    if (!this.#isUndecided) {
      if (read === 'opaque' || read === 'page' || (read === 'text' && isAccepted)) return
      if (read === 'text') this.#text = new ErrorText()
      else this.#openReader(read === 'events')
    }
    if (decoding === null) return
    const pace = read === 'events' ? 'as-it-comes' : 'at-the-end'
    this.#decoder = new ContentDecoder(decoding, pace, (bytes, atMs) => this.#read(bytes, atMs))
  }

  /** True for a binary answer: vectors may be sent as bytes. */
  #isBinary(form: AnswerForm | null): boolean {
    return form === 'opaque' && this.#call.callType !== 'chat'
  }

  #openReader(isStream: boolean): void {
    this.#answer = new AnswerReader(this.#call, this.status)
    if (isStream) this.#events = new AnswerEvents(this.#answer)
  }

  /** Reads the next bytes of the body, whose content coding is undone. */
  #read(bytes: Uint8Array, atMs: number): void {
    if (this.#hasFailed) return
    if (this.#isUndecided) {
      this.#wordBytes += bytes.length
      const begun = Buffer.concat([this.#firstBytes, bytes])
      const form = formBegunBy(begun)
      this.#firstBytes = form === 'blank' ? noBytes : begun
      if (form !== null && form !== 'blank') this.#decide(form, atMs)
    } else if (this.#isWords) this.#wordBytes += bytes.length
    else this.#readOn(bytes, atMs)
  }

  #decide(form: BegunForm, atMs: number): void {
    this.#isUndecided = false
    this.#isWords = form === 'words'
    if (form !== 'words') this.#openReader(form === 'events')
    this.#readOn(this.#firstBytes, atMs)
    this.#firstBytes = noBytes
  }

  #readOn(bytes: Uint8Array, atMs: number): void {
    if (this.#events !== null) this.#events.push(bytes, atMs)
    else if (this.#text !== null) this.#text.data(bytes)
    else this.#answer?.data(bytes, bytes.length === this.#announcedBytes)
  }

  #end(isComplete: boolean): void {
    if (this.#hasFailed) return
    if (this.#isUndecided) this.#decide('words', 0)
    if (this.#events === null) this.#answer?.end()
    else if (isComplete) this.#events.finish()
  }

  #fail(error: unknown): void {
    this.#hasFailed = true
    this.#decoder?.[Symbol.dispose]()
    this.#decoder = null
    this.#onFault(error)
  }

  #sinceDispatch(atMs: number | null): number | null {
    return atMs === null ? null : atMs - this.#dispatchMs
  }
}

const gapQuantiles = [0.5, 0.95] as const

/** True for calls whose answer's `error` is the call's own failure. A file or a batch may contain errors of others. */
function isInference(callType: CallType): boolean {
  return callType === 'chat' || callType === 'embedding' || callType === 'rerank'
}

/** Least time per output token in ms. A faster text existed before the call. */
const leastTpotMs = 0.1

/**
 * The time (ms) per output token after the first, from the arrivals of content. `null` for bunched content:
 * over a third of these tokens, spread evenly over the chunks, came in the first tenth of the time. Such
 * tokens existed before the first content, and the result would be over 1.5 times too small.
 */
function tpotOf(pace: ContentPace, tokens: number): number | null {
  if (tokens < 2) return null
  const early = tokens * pace.chunksWithin(1 / 10) - 1
  if (early > (tokens - 1) / 3) return null
  const tpotMs = ((pace.lastAtMs ?? 0) - (pace.firstAtMs ?? 0)) / (tokens - 1)
  return tpotMs < leastTpotMs ? null : tpotMs
}
