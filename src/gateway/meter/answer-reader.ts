import type { Call } from '../../call/call.ts'
import { JsonPeek, type JsonPeekReceiver } from '../../json/json-peek.ts'
import { longestLooked } from '../../call/error-message.ts'
import { countPiece, isAscii, parsePiece, stringPiece } from '../../json/json-piece.ts'
import { type AnswerPart, answerParts, answerPlaces } from './answer-places.ts'
import { type ReportedError, readError } from './read-error.ts'
import { isImplausible, withinBounds } from './implausible-usage.ts'
import { addChoices, noFigures, type ReportedFigures, readFigures, type UsagePieces } from './read-usage.ts'
import { ReportedPieces } from './reported-pieces.ts'
import { ToolCalls } from './tool-calls.ts'

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
/** Choices beyond it are not told apart. */
const mostChoices = 128
const longestReasons = 500
/** What these report was spent by calls of their own; whoever fetches them spends nothing. */
const storedObjects: ReadonlySet<string> = new Set(['batch', 'response', 'thread.run'])

/**
 * Reads off an answer, one event or one piece of body at a time, what the meter wants to know of it. Looks at
 * every byte once, and parses only the small pieces that are wanted, the counts only once at the end.
 */
export class AnswerReader implements JsonPeekReceiver {
  readonly #peek: JsonPeek = new JsonPeek(answerPlaces, this)
  readonly #call: Pick<Call, 'callType' | 'method'>
  readonly #status: number
  #isEvent = false

  /** The first that is not empty. */
  model: string | null = null
  serviceTier: string | null = null
  /** A stream's end mark was seen, or a finish reason, which counts as one. */
  marked = false
  /** The answer says that it failed. */
  failed = false
  error: ReportedError | null = null
  /** It reports more than one call can have used; set by `figures`. */
  isImplausible = false
  /** The upstream's own id of the request, if it stands in the answer. */
  requestId: string | null = null
  /** A stream's reasoning came with it, in whole or as a summary. */
  streamedReasoning = false

  /** Tools that it asks for; null if nothing spoke of any. */
  tools: ToolCalls | null = null

  #finishReasons: string[] | null = null
  #pieces: ReportedPieces | null = null
  /** Where pieces of the event at hand stand; they count once the event is whole. */
  readonly #found: { readonly name: keyof UsagePieces; readonly start: number; readonly end: number }[] = []
  #isStored = false
  #parsedEvents = 0

  /** The newest choice that an event told of. */
  #lastChoice = 0
  /** In a body. */
  #choiceCount = 0
  /** Of the choice at hand. */
  #choiceIndex = 0
  #choiceReason: string | null = null
  /** Of the event at hand. */
  #content: EventContent = 'none'
  #eventFailed = false
  #eventType: string | null = null
  #hasTypedDelta = false
  #hasTimings = false
  /** Of a body. */
  #hasAnswer = false
  #errorParts: Record<string, unknown> | null = null

  constructor(call: Pick<Call, 'callType' | 'method'>, status: number) {
    this.#call = call
    this.#status = status
  }

  get finishReason(): string | null {
    if (this.#finishReasons === null) return null
    const known = this.#finishReasons.filter((reason) => reason !== '')
    return known.join().slice(0, longestReasons)
  }

  /** Events of which something was parsed as JSON. */
  get parsedEvents(): number {
    return this.#parsedEvents + (this.#pieces?.textCount ?? 0)
  }

  /** Events that reported token counts other than zero, or llama.cpp's timings. */
  get usageEvents(): number {
    return this.#pieces?.countEvents ?? 0
  }

  /** Counts, cost and times as reported so far. Only a POST spends anything, and a body that is no JSON says nothing. */
  figures(tokensAsked: number = 0): ReportedFigures {
    const { callType, method } = this.#call
    const isBroken = !this.#isEvent && this.#peek.notJson
    if (this.#pieces === null || isBroken || method !== 'POST' || (callType === 'other' && this.#isStored))
      return noFigures
    const all = this.#pieces.all()
    const call = { callType, tokensAsked, bodyChoices: this.#choiceCount }
    const sum = addChoices(all.map((pieces) => readFigures(pieces, call)))
    const figures = withinBounds(sum)
    this.isImplausible = figures !== sum || all.some(isImplausible)
    return figures
  }

  /** The data of one event of a stream; `isError` where the stream names it so. */
  event(bytes: Buffer, start: number, end: number, isError: boolean): EventContent {
    if (
      bytes[start] === openBracket &&
      isAscii(bytes, start, Math.min(end, start + endMark.length), endMark)
    ) {
      this.marked = true
      return 'none'
    }
    this.#isEvent = true
    this.#content = 'none'
    this.#eventFailed = isError
    this.#eventType = null
    this.#hasTypedDelta = false
    this.#hasTimings = false
    this.#peek.reset()
    this.#peek.push(bytes, start, end)
    this.#peek.end()
    if (!this.#peek.complete) this.#content = 'none'
    else {
      this.#noteFound(bytes)
      if (this.#eventType !== null) this.#noteType(this.#eventType)
    }
    this.#found.length = 0
    this.tools?.end(this.#peek.complete, this.#eventType)
    if (this.#eventFailed) this.errorEvent(bytes, start, end)
    return this.#content
  }

  /** The next bytes of a body that is one JSON text. */
  data(chunk: Uint8Array): void {
    this.#peek.push(chunk)
  }

  /** The body is over, whole or not. */
  end(): void {
    this.tools?.end(!this.#peek.notJson, null)
    const parts = this.#errorParts
    if (parts === null) return
    if (this.#status < 400 && !this.#hasAnswer && isSaid(parts['error'])) this.failed = true
    if (this.#status >= 400 || this.failed) this.error ??= readError(parts, this.#status)
  }

  value(which: number, bytes: Buffer, start: number, end: number): void {
    const first = bytes[start]
    const part = answerParts[which]
    switch (part) {
      case 'visible':
      case 'reasoning':
      case 'typedDelta':
        if (first === quote && end - start > 2) this.#noteContent(part)
        return
      case 'toolName':
        if (first !== quote || end - start <= 2) return
        this.#noteContent('visible')
        this.#tool.note(part, bytes, start, end)
        return
      case 'toolIndex':
      case 'toolId':
      case 'itemType':
      case 'itemName':
        this.#tool.note(part, bytes, start, end)
        return
      case 'choiceIndex':
        this.#choiceIndex = countPiece(bytes, start, end) ?? 0
        return
      case 'finishReason':
        if (first === quote) this.#choiceReason = stringPiece(bytes, start, end)
        return
      case 'model':
        if (this.model === null && end - start > 2) this.model = stringPiece(bytes, start, end)
        return
      case 'serviceTier':
        if (first === quote) this.serviceTier ??= stringPiece(bytes, start, end)
        return
      case 'usage':
      case 'startUsage':
      case 'timings':
      case 'metrics':
      case 'timeInfo':
      case 'meta':
        if (first === openBrace) this.#notePiece(part, bytes, start, end)
        return
      case 'requestId':
        if (first === quote && end - start > 2) this.requestId ??= stringPiece(bytes, start, end)
        return
      case 'type':
        if (this.#isEvent) this.#eventType = stringPiece(bytes, start, end)
        else this.#notePart(part, bytes, start, end)
        return
      case 'object':
        this.#noteObject(bytes, start, end)
        return
      case 'stopReason':
        if (first === quote) this.#noteFinish(0, stringPiece(bytes, start, end))
        return
      case 'status':
        if (!this.#isEvent && this.#call.callType === 'chat') this.#noteStatus(stringPiece(bytes, start, end))
        return
      case 'error':
        if (this.#isEvent) this.#eventFailed ||= first !== letterN && first !== letterF && end - start > 2
        else if (first !== letterN) this.#notePart(part, bytes, start, end)
        return
      case 'choiceError':
        if (first !== openBrace && first !== quote) return
        this.#noteFailure()
        this.#notePart('error', bytes, start, end)
        return
      case 'list':
        this.#hasAnswer = true
        return
      case 'choice':
      case 'toolCall':
      case 'item':
      case undefined:
        return
      default:
        this.#notePart(part, bytes, start, end)
    }
  }

  tooLong(which: number, firstByte: number): void {
    const part = answerParts[which]
    switch (part) {
      case 'visible':
      case 'reasoning':
      case 'typedDelta':
        if (firstByte === quote) this.#noteContent(part)
        return
      case 'toolName':
        if (firstByte === quote) this.#noteContent('visible')
        return
      case 'usage':
        this.#pieces?.forget('usage')
        return
      case 'choiceError':
        this.#noteFailure()
        return
      case 'list':
        this.#hasAnswer = true
        return
      case 'error':
        if (this.#isEvent) this.#eventFailed = true
        else if (this.#status < 400 && !this.#hasAnswer) this.failed = true
        return
      default:
      // All else is as if it were not there.
    }
  }

  close(which: number): void {
    const part = answerParts[which]
    if (part === 'toolCall') this.tools?.endCall()
    else if (part === 'item') this.tools?.endItem()
    else if (part === 'choice') this.#endChoice()
  }

  get #tool(): ToolCalls {
    return (this.tools ??= new ToolCalls())
  }

  #endChoice(): void {
    this.#hasAnswer = true
    this.tools?.endChoice(this.#choiceIndex)
    if (this.#isEvent) this.#lastChoice = Math.min(this.#choiceIndex, mostChoices - 1)
    else this.#choiceCount++
    if (this.#choiceReason !== null) this.#noteFinish(this.#choiceIndex, this.#choiceReason)
    this.#choiceIndex = 0
    this.#choiceReason = null
  }

  #noteContent(part: 'typedDelta' | 'visible' | 'reasoning'): void {
    if (part === 'typedDelta') this.#hasTypedDelta = true
    else if (part === 'visible') this.#content = 'visible'
    else {
      this.streamedReasoning = true
      if (this.#content === 'none') this.#content = 'reasoning'
    }
  }

  #notePiece(name: keyof UsagePieces, bytes: Buffer, start: number, end: number): void {
    this.#pieces ??= new ReportedPieces()
    if (this.#isEvent) {
      this.#found.push({ name, start, end })
      this.#hasTimings ||= name === 'timings'
    } else this.#pieces.inBody(name, bytes, start, end)
  }

  /**
   * An event is pushed in one piece, so that its pieces are still where they were. Timings are always of one choice,
   * the event's own or the one that ended before, and so is a usage beside them; any other usage is of all choices.
   */
  #noteFound(bytes: Buffer): void {
    const choice = this.#hasTimings ? this.#lastChoice : null
    for (const { name, start, end } of this.#found) this.#pieces?.inEvent(name, choice, bytes, start, end)
  }

  #noteObject(bytes: Buffer, start: number, end: number): void {
    if (isAscii(bytes, start, end, '"error"')) this.#noteFailure()
    else if (this.#call.callType === 'other') {
      this.#isStored ||= storedObjects.has(stringPiece(bytes, start, end) ?? '')
    }
  }

  /** The event, or the body within HTTP 200, says that it is a failure. */
  #noteFailure(): void {
    if (this.#isEvent) this.#eventFailed = true
    else this.failed ||= this.#status < 400
  }

  #noteFinish(index: number, reason: string | null): void {
    if (reason === null || reason === '') return
    this.marked = true
    if (reason === 'error') this.#noteFailure()
    const reasons = (this.#finishReasons ??= [])
    const at = Math.min(index, mostChoices - 1)
    while (reasons.length <= at) reasons.push('')
    reasons[at] = reason
  }

  #noteStatus(status: string | null): void {
    if (status === 'failed') this.failed = this.#status < 400
    else if (status === 'completed' && this.#finishReasons === null) this.#noteFinish(0, status)
  }

  /** Events of the Responses and Messages APIs tell by their type what they are. */
  #noteType(type: string): void {
    if (this.#hasTypedDelta && type.endsWith('.delta')) {
      this.#noteContent(type.includes('reasoning') ? 'reasoning' : 'visible')
      return
    }
    if (type === 'message_stop' || type === 'response.incomplete') this.marked = true
    else if (type === 'response.completed') {
      this.marked = true
      if (this.#finishReasons === null) this.#noteFinish(0, 'completed')
    } else if (type === 'response.failed' || type === 'error') this.#eventFailed = true
  }

  /** The event, or the value of a stream's field called `error`, tells of one. */
  errorEvent(bytes: Buffer, start: number, end: number): void {
    this.failed = true
    if (this.error !== null || end - start > longestError) return
    this.#parsedEvents++
    const parsed = parsePiece(bytes, start, end)
    const error =
      parsed === undefined
        ? { code: null, message: bytes.toString('utf8', start, end).slice(0, longestLooked) }
        : readError(typeof parsed === 'string' ? { error: parsed } : parsed, this.#status)
    if (error.code !== null || error.message !== null) this.error = error
  }

  /** Notes a part of a body that may tell of an error, as {@link readError} calls it. */
  #notePart(part: AnswerPart, bytes: Buffer, start: number, end: number): void {
    if (!this.#isEvent) (this.#errorParts ??= {})[part] = parsePiece(bytes, start, end)
  }
}

function isSaid(error: unknown): boolean {
  if (typeof error === 'string') return error !== ''
  return typeof error === 'object' && error !== null && Object.keys(error).length > 0
}
