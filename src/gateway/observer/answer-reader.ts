import type { CallType } from '../../call/call.ts'
import { ByteGather } from '../../lib/byte-gather.ts'
import { JsonPeek, type JsonPeekReceiver } from '../../lib/json-peek.ts'
import { countPiece, isAscii, parsePiece, stringPiece } from '../../lib/json-piece.ts'
import { answerPlaces, slot } from './answer-places.ts'
import { hasVisibleContent } from './has-visible-content.ts'
import { type ReportedError, readError } from './read-error.ts'
import { type ReportedFigures, readFigures } from './read-usage.ts'

/** What an event adds to the answer. */
export type EventContent = 'none' | 'reasoning' | 'visible'

const quote = 0x22
const openBracket = 0x5b
const openBrace = 0x7b
const letterN = 0x6e
const letterF = 0x66
const endMark = '[DONE]'
/** An error event longer than this is noted without its words. */
const longestError = 256 * 1024
const longestMessage = 500
/** Choices beyond it are not told apart. */
const mostChoices = 128

/**
 * Reads off an answer, one event or one piece of body at a time, what the meter wants to know of it. Looks at
 * every byte once, and parses only the small pieces that are wanted, the counts only once at the end.
 */
export class AnswerReader implements JsonPeekReceiver {
  readonly #peek: JsonPeek = new JsonPeek(answerPlaces, this)
  readonly #callType: CallType
  readonly #status: number
  #isEvent = false

  #model: string | null = null
  #serviceTier: string | null = null
  #finishReasons: string[] | null = null
  #marked = false
  #failed = false
  #error: ReportedError | null = null
  /** The newest pieces of a stream, not parsed before the end: some upstreams send them with every event. */
  #usageBytes: ByteGather | null = null
  #timingsBytes: ByteGather | null = null
  #usage: unknown = null
  #startUsage: unknown = null
  #timings: unknown = null
  #meta: unknown = null
  #parsedEvents = 0

  /** Of the choice at hand. */
  #choiceIndex = 0
  #choiceReason: string | null = null
  /** Of the event at hand. */
  #content: EventContent = 'none'
  #doubtful = false
  #eventFailed = false
  #eventType: string | null = null
  #hasTypedDelta = false
  /** Of a body. */
  #hasAnswer = false
  #errorParts: Record<string, unknown> | null = null

  constructor(callType: CallType, status: number) {
    this.#callType = callType
    this.#status = status
  }

  /** The first that is not empty. */
  get model(): string | null {
    return this.#model
  }

  get serviceTier(): string | null {
    return this.#serviceTier
  }

  get finishReason(): string | null {
    return this.#finishReasons === null ? null : this.#finishReasons.filter((reason) => reason !== '').join()
  }

  /** Whether a stream's end mark was seen, or a finish reason, which counts as one. */
  get marked(): boolean {
    return this.#marked
  }

  /** Whether the answer says that it failed. */
  get failed(): boolean {
    return this.#failed
  }

  get error(): ReportedError | null {
    return this.#error
  }

  /** Events of which something was parsed as JSON. */
  get parsedEvents(): number {
    const gathered = Number(this.#usageBytes !== null) + Number(this.#timingsBytes !== null)
    return this.#parsedEvents + gathered
  }

  /** Counts, cost and times as reported so far. */
  figures(): ReportedFigures {
    return readFigures(
      {
        usage: this.#usage ?? parseGathered(this.#usageBytes),
        startUsage: this.#startUsage,
        timings: this.#timings ?? parseGathered(this.#timingsBytes),
        meta: this.#meta,
      },
      this.#callType,
    )
  }

  /** The data of one event of a stream; `isError` where the stream names it so. */
  event(bytes: Buffer, start: number, end: number, isError: boolean): EventContent {
    if (
      bytes[start] === openBracket &&
      isAscii(bytes, start, Math.min(end, start + endMark.length), endMark)
    ) {
      this.#marked = true
      return 'none'
    }
    this.#isEvent = true
    this.#content = 'none'
    this.#doubtful = false
    this.#eventFailed = isError
    this.#eventType = null
    this.#hasTypedDelta = false
    this.#peek.reset()
    this.#peek.push(bytes, start, end)
    this.#peek.end()
    if (this.#peek.complete) {
      if (this.#eventType !== null) this.#noteType(this.#eventType)
      if (this.#doubtful) this.#settleDoubt(bytes, start, end)
    } else this.#content = 'none'
    if (this.#eventFailed) this.#noteErrorEvent(bytes, start, end)
    return this.#content
  }

  /** The value of a stream's field called `error`. */
  errorField(bytes: Buffer, start: number, end: number): void {
    this.#noteErrorEvent(bytes, start, end)
  }

  /** The next bytes of a body that is one JSON text. */
  body(chunk: Uint8Array): void {
    this.#peek.push(chunk)
  }

  /** The body is over, whole or not. */
  endBody(): void {
    const parts = this.#errorParts
    if (parts !== null && (this.#status >= 400 || this.#failed || !this.#hasAnswer)) {
      this.#error ??= readError(parts, this.#status)
      if (this.#status < 400 && isSaid(parts['error'])) this.#failed = true
    }
  }

  value(which: number, bytes: Buffer, start: number, end: number): void {
    const first = bytes[start]
    switch (which) {
      case slot.visible:
      case slot.reasoning:
      case slot.typedDelta:
        if (first === quote) {
          if (end - start > 2) this.#noteContent(which)
        } else if (first === openBracket || first === openBrace) this.#doubtful ||= end - start > 2
        return
      case slot.choiceIndex:
        this.#choiceIndex = countPiece(bytes, start, end) ?? 0
        return
      case slot.finishReason:
        if (first === quote) this.#choiceReason = stringPiece(bytes, start, end)
        return
      case slot.model:
        if (this.#model === null && end - start > 2) this.#model = stringPiece(bytes, start, end)
        return
      case slot.serviceTier:
        if (first === quote) this.#serviceTier ??= stringPiece(bytes, start, end)
        return
      case slot.usage:
        if (first === openBrace) this.#noteUsage(bytes, start, end)
        return
      case slot.timings:
        if (first !== openBrace) return
        if (this.#isEvent) this.#timingsBytes = gathered(this.#timingsBytes, bytes, start, end)
        else this.#timings = parsePiece(bytes, start, end)
        return
      case slot.startUsage:
        this.#startUsage = parsePiece(bytes, start, end)
        return
      case slot.meta:
        this.#meta = parsePiece(bytes, start, end)
        return
      case slot.type:
        if (this.#isEvent) this.#eventType = stringPiece(bytes, start, end)
        else this.#notePart('type', bytes, start, end)
        return
      case slot.object:
        if (!isAscii(bytes, start, end, '"error"')) return
        if (this.#isEvent) this.#eventFailed = true
        else this.#failed = this.#status < 400
        return
      case slot.stopReason:
        if (first === quote) this.#noteFinish(0, stringPiece(bytes, start, end))
        return
      case slot.status:
        if (!this.#isEvent && this.#callType === 'chat') this.#noteStatus(stringPiece(bytes, start, end))
        return
      case slot.error:
        if (this.#isEvent) this.#eventFailed ||= first !== letterN && first !== letterF && end - start > 2
        else if (first !== letterN) this.#notePart('error', bytes, start, end)
        return
      case slot.list:
        this.#hasAnswer = true
        return
      case slot.errorType:
        this.#notePart('error_type', bytes, start, end)
        return
      case slot.message:
        this.#notePart('message', bytes, start, end)
        return
      case slot.code:
        this.#notePart('code', bytes, start, end)
        return
      case slot.detail:
        this.#notePart('detail', bytes, start, end)
    }
  }

  tooLong(which: number, firstByte: number): void {
    switch (which) {
      case slot.visible:
      case slot.reasoning:
      case slot.typedDelta:
        if (firstByte === quote) this.#noteContent(which)
        else this.#doubtful = true
        return
      case slot.list:
        this.#hasAnswer = true
        return
      case slot.error:
        if (this.#isEvent) this.#eventFailed = true
        else if (this.#status < 400 && !this.#hasAnswer) this.#failed = true
    }
  }

  close(which: number): void {
    if (which !== slot.choice) return
    this.#hasAnswer = true
    if (this.#choiceReason !== null) this.#noteFinish(this.#choiceIndex, this.#choiceReason)
    this.#choiceIndex = 0
    this.#choiceReason = null
  }

  #noteContent(which: number): void {
    if (which === slot.typedDelta) this.#hasTypedDelta = true
    else if (which === slot.visible) this.#content = 'visible'
    else if (this.#content === 'none') this.#content = 'reasoning'
  }

  #noteUsage(bytes: Buffer, start: number, end: number): void {
    if (!this.#isEvent) this.#usage = parsePiece(bytes, start, end)
    else if (countsTokens(bytes, start, end)) this.#usageBytes = gathered(this.#usageBytes, bytes, start, end)
  }

  #noteFinish(index: number, reason: string | null): void {
    if (reason === null || reason === '') return
    this.#marked = true
    if (reason === 'error') {
      this.#eventFailed = true
      if (!this.#isEvent && this.#status < 400) this.#failed = true
    }
    const reasons = (this.#finishReasons ??= [])
    const at = Math.min(index, mostChoices - 1)
    while (reasons.length <= at) reasons.push('')
    reasons[at] = reason
  }

  #noteStatus(status: string | null): void {
    if (status === 'failed') this.#failed = this.#status < 400
    else if (status === 'completed' && this.#finishReasons === null) this.#noteFinish(0, status)
  }

  /** Events of the Responses and Messages APIs tell by their type what they are. */
  #noteType(type: string): void {
    if (this.#hasTypedDelta && type.endsWith('.delta')) {
      this.#noteContent(type.includes('reasoning') ? slot.reasoning : slot.visible)
      return
    }
    if (type === 'message_stop' || type === 'response.incomplete') this.#marked = true
    else if (type === 'response.completed') {
      this.#marked = true
      if (this.#finishReasons === null) this.#noteFinish(0, 'completed')
    } else if (type === 'response.failed' || type === 'error') this.#eventFailed = true
  }

  /** Content that is no string (Mistral's lists of parts) shows only when parsed whether it is reasoning. */
  #settleDoubt(bytes: Buffer, start: number, end: number): void {
    if (this.#content === 'visible') return
    this.#parsedEvents++
    this.#content = hasVisibleContent(parsePiece(bytes, start, end)) ? 'visible' : 'reasoning'
  }

  #noteErrorEvent(bytes: Buffer, start: number, end: number): void {
    this.#failed = true
    if (this.#error !== null || end - start > longestError) return
    this.#parsedEvents++
    const parsed = parsePiece(bytes, start, end)
    const error =
      parsed === undefined
        ? { code: null, message: bytes.toString('utf8', start, end).slice(0, longestMessage) }
        : readError(typeof parsed === 'string' ? { error: parsed } : parsed, this.#status)
    if (error.code !== null || error.message !== null) this.#error = error
  }

  #notePart(name: string, bytes: Buffer, start: number, end: number): void {
    if (this.#isEvent) return
    this.#errorParts ??= {}
    this.#errorParts[name] = parsePiece(bytes, start, end)
  }
}

function parseGathered(gather: ByteGather | null): unknown {
  return gather === null ? null : parsePiece(gather.bytes, 0, gather.length)
}

function gathered(gather: ByteGather | null, bytes: Buffer, start: number, end: number): ByteGather {
  const own = gather ?? new ByteGather()
  own.clear()
  own.append(bytes, start, end)
  return own
}

/** Whether a usage object's text has a token count that is not zero: a name that ends in `s`, and a digit. */
function countsTokens(bytes: Buffer, start: number, end: number): boolean {
  for (let i = bytes.indexOf('s"', start); i >= 0 && i < end; i = bytes.indexOf('s"', i + 1)) {
    let at = i + 2
    while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x3a)) at++
    const digit = bytes[at] ?? 0
    if (at > i + 2 && at < end && digit >= 0x31 && digit <= 0x39) return true
  }
  return false
}

function isSaid(error: unknown): boolean {
  if (typeof error === 'string') return error !== ''
  return typeof error === 'object' && error !== null && Object.keys(error).length > 0
}
