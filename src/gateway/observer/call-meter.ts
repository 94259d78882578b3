import type { Call } from '../../call/call.ts'
import type { CallObserver, ResponseHead } from '../../call/call-observer.ts'
import type { Failure } from '../../call/failure.ts'
import { type AnswerForm, readAnswerHead } from './answer-head.ts'
import { AnswerReader } from './answer-reader.ts'
import { canDecode, ContentDecoder } from './content-decoder.ts'
import type { AnswerEnding, MeterReading } from '../../call/meter-reading.ts'
import type { ReportedFigures } from './read-usage.ts'
import { StreamMeter } from './stream-meter.ts'

const nothingReported: ReportedFigures = {
  usage: null,
  costNanoUsd: null,
  searchUnits: null,
  queueMs: null,
  promptMs: null,
  decodeMs: null,
}

/**
 * Measures one call as its answer passes. Keeps nothing of what it sees but what the reading is made of; each
 * attempt starts a new reading.
 */
export class CallMeter implements CallObserver {
  readonly #callType: Call['type']
  readonly #wantsStream: boolean
  #dispatchMs: number | null = null
  #headMs: number | null = null
  #status = 0
  #upstreamRequestId: string | null = null
  #responseBytes = 0
  #stream: StreamMeter | null = null
  #body: AnswerReader | null = null
  #decoder: ContentDecoder | null = null
  #over = false

  /** `wantsStream`: how to read an answer that does not say what it is. */
  constructor(call: Pick<Call, 'type'>, wantsStream: boolean) {
    this.#callType = call.type
    this.#wantsStream = wantsStream
  }

  admitted(): void {
    // Waiting for a slot is the admission's to measure.
  }

  requestStart(atMs: number): void {
    this.#dispatchMs = atMs
    this.#headMs = null
    this.#status = 0
    this.#upstreamRequestId = null
    this.#responseBytes = 0
    this.#stream = null
    this.#body = null
    this.#decoder?.end()
    this.#decoder = null
    this.#over = false
  }

  responseStart(head: ResponseHead, atMs: number): void {
    this.#headMs = atMs
    this.#status = head.status
    const { form, coding, upstreamRequestId } = readAnswerHead(head.headers)
    this.#upstreamRequestId = upstreamRequestId
    if (coding !== null && !canDecode(coding)) return
    this.#open(form ?? (this.#wantsStream && head.status < 400 ? 'events' : 'json'))
    if (coding === null || (this.#stream === null && this.#body === null)) return
    const stream = this.#stream
    const body = this.#body
    this.#decoder = new ContentDecoder(coding, (decoded, decodedAtMs) => {
      stream?.data(decoded, decodedAtMs)
      body?.body(decoded)
    })
  }

  data(chunk: Uint8Array, atMs: number): void {
    this.#responseBytes += chunk.length
    if (this.#decoder !== null) this.#decoder.write(chunk, atMs)
    else if (this.#stream !== null) this.#stream.data(chunk, atMs)
    else this.#body?.body(chunk)
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
    const answer = stream?.answer ?? this.#body
    // Counts of a stream that could only be read in part would be wrong ones.
    const whole = this.#decoder?.failed !== true
    const figures = (whole ? answer?.figures() : null) ?? nothingReported
    const usage = figures.usage
    const pace = stream?.pace ?? null
    const wholePace = whole ? pace : null
    const [gapP50Ms = null, gapP95Ms = null] = wholePace?.gapPercentiles([0.5, 0.95]) ?? []
    return {
      dispatchMs: this.#dispatchMs,
      ttfbMs: this.#sinceDispatch(this.#headMs),
      ttftMs: this.#sinceDispatch(pace?.firstAtMs ?? null),
      ttfoMs: this.#sinceDispatch(pace?.firstVisibleAtMs ?? null),
      firstContentMs: pace?.firstAtMs ?? null,
      lastContentMs: wholePace?.lastAtMs ?? null,
      tpotMs: tpotOf(wholePace?.firstAtMs ?? null, wholePace?.lastAtMs ?? null, usage?.outputTokens ?? 0),
      chunks: wholePace?.chunks ?? null,
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
      serviceTier: answer?.serviceTier ?? null,
      finishReason: answer?.finishReason ?? null,
      upstreamRequestId: this.#upstreamRequestId,
      upstreamErrorCode: answer?.error?.code ?? null,
      errorMessage: answer?.error?.message ?? null,
      ending: this.#ending(whole),
      responseBytes: this.#responseBytes,
      totalEvents: stream?.totalEvents ?? 0,
      parsedEvents: stream?.answer.parsedEvents ?? 0,
    }
  }

  #open(form: AnswerForm): void {
    if (form === 'events') this.#stream = new StreamMeter(this.#callType, this.#status)
    else if (form === 'json') this.#body = new AnswerReader(this.#callType, this.#status)
  }

  #finish(whole: boolean): void {
    if (this.#over) return
    this.#over = true
    const stream = this.#stream
    const body = this.#body
    const close = (): void => {
      if (whole) stream?.end()
      body?.endBody()
    }
    this.#decoder?.end()
    const settled = this.settled()
    if (settled === null) close()
    else void settled.then(close).catch(() => undefined)
  }

  #ending(whole: boolean): AnswerEnding {
    const stream = this.#stream
    const failed = stream?.answer.failed ?? this.#body?.failed ?? false
    if (this.#status >= 400) return 'none'
    if (failed && isInference(this.#callType)) return 'stream_error'
    if (stream === null || this.#callType !== 'chat') return 'none'
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

function tpotOf(firstMs: number | null, lastMs: number | null, outputTokens: number): number | null {
  if (firstMs === null || lastMs === null || lastMs === firstMs || outputTokens < 2) return null
  return (lastMs - firstMs) / (outputTokens - 1)
}
