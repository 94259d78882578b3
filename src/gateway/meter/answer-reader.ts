import type { Call } from '../../call/call.ts'
import { longestLooked } from '../../call/error-message.ts'
import { JsonScan, jsonOrUndefined, tooLong } from '../../json/json-scan.ts'
import { asBuffer, ByteGather, noBytes } from '../../lib/byte-gather.ts'
import { type Fields, fields, isCount, isObject, list } from '../../lib/message-shape.ts'
import { addsReasoning, addsVisible, type EventContent, RepeatedEvent } from './added-content.ts'
import { formBegunBy } from './answer-form.ts'
import { answerPlaces, longestParsed } from './answer-shape.ts'
import { type ReportedError, readError } from './read-error.ts'
import { noFigures, type ReportedFigures } from './read-usage.ts'
import { hasCounts, ReportedPieces } from './reported-pieces.ts'
import { ToolCalls } from './tool-calls.ts'

/** Most characters of a name, a finish reason, and a request id. */
const longest = { name: 510, reason: 62, id: 200 } as const
const endMark = '[DONE]'
const byteOrderMark = Buffer.from('\ufeff')
/** Members that report a call's state without an answer. */
const remarks: ReadonlySet<string> = new Set([
  'usage',
  'error',
  'message',
  'msg',
  'detail',
  'code',
  'success',
  'status',
  'request_id',
  'timestamp',
  'path',
])
/** States of a response that is not finished yet. */
const pendingStates: ReadonlySet<unknown> = new Set(['queued', 'in_progress'])
/** Most choices that are read separately. */
const mostChoices = 128
/** Most characters of all finish reasons. */
const longestReasons = 500
/** Objects whose usage belongs to other calls: fetching them spends nothing. */
const storedObjects: ReadonlySet<unknown> = new Set(['batch', 'response', 'thread.run'])

/** Reads the fields that the meter needs from an answer, event by event or as one body. */
export class AnswerReader {
  readonly #call: Pick<Call, 'callType' | 'method'>
  readonly #status: number
  /** A short body that came in one piece. `#pieces` gathers other short bodies, and `#scan` reads a long one. */
  #document: Buffer | null = null
  #pieces: ByteGather | null = null
  #scan: JsonScan | null = null

  /** The first model name that is not empty. */
  model: string | null = null
  serviceTier: string | null = null
  /** True after a stream's end mark, or a finish reason, which counts as one. */
  marked = false
  /** True if the answer reports a failure. */
  failed = false
  error: ReportedError | null = null
  /** The upstream's id of the request; null if the answer has none. */
  requestId: string | null = null
  /** True if the stream contains its reasoning, in full or as a summary. */
  streamedReasoning = false
  /** The tools that the answer asks for; null without one. */
  tools: ToolCalls | null = null

  /** The id of the response in the answer. */
  responseId: string | null = null
  /** True if the response is not finished yet. */
  isPending = false
  /** True for a background response, which continues if its client leaves. */
  isBackground = false
  /** True if the answer has no content at all. */
  isEmpty = true
  /** True for a body whose JSON ends before its brackets are closed. */
  isCut = false

  readonly #finishReasons: string[] = []
  readonly #reported = new ReportedPieces()
  /** Null before the first event. */
  #repeated: RepeatedEvent | null = null
  #isStored = false
  /** The newest choice of a stream. */
  #lastChoice = 0
  #bodyChoices = 0

  constructor(call: Pick<Call, 'callType' | 'method'>, status: number) {
    this.#call = call
    this.#status = status
  }

  get finishReason(): string | null {
    const reasons = this.#finishReasons.filter((reason) => reason !== '')
    return reasons.join().slice(0, longestReasons) || null
  }

  /** Events that reported token counts other than zero, or llama.cpp's timings. */
  get usageEvents(): number {
    return this.#reported.countEvents
  }

  /** True if the answer reports more than one call can use; known after `figures`. */
  get isImplausible(): boolean {
    return this.#reported.isImplausible
  }

  /**
   * Counts, cost and times reported so far. Only a POST uses tokens. With `isOwed` another method counts,
   * too, because the call that created the response has not counted its usage.
   */
  figures(tokensAsked: number = 0, isOwed = false): ReportedFigures {
    const { callType, method } = this.#call
    const isSpent = isOwed || (method === 'POST' && !(callType === 'other' && this.#isStored))
    if (!isSpent) return noFigures
    return this.#reported.figures({ callType, tokensAsked, bodyChoices: this.#bodyChoices })
  }

  /** Reads the data of an event; `isError` if its name is `error`. */
  event(data: string, isError: boolean): EventContent {
    const repeated = isError ? null : (this.#repeated?.contentOf(data) ?? null)
    if (repeated !== null) return repeated
    if (!data.startsWith(endMark)) return this.parsedEvent(jsonOrUndefined(data), isError, data)
    this.marked = true
    return 'none'
  }

  /** Reads a parsed event; if it is no JSON (`undefined`), its `data` may be an error message. */
  parsedEvent(value: unknown, isError: boolean, data = ''): EventContent {
    if (value === undefined) this.isEmpty = false
    const top = topOf(value)
    const type = textOf(top['type'], longest.name)
    const choices = list(top['choices'])
    const sums = this.#sums
    const saysFailure = this.#readTop(top, type, choices)
    const choice = choices.length === 0 ? this.#lastChoice : indexOf(choices.at(-1))
    this.#lastChoice = Math.min(choice, mostChoices - 1)
    this.#readPieces(top, choices, true)
    if (type !== null) this.#readType(type)
    const isFailed =
      isError || saysFailure || type === 'response.failed' || type === 'error' || isSaid(errorOf(top))
    if (isFailed) this.#fail(value, data)
    const hasReasoning = addsReasoning(top, type, choices)
    this.streamedReasoning ||= hasReasoning
    const content = addsVisible(top, type, choices) ? 'visible' : hasReasoning ? 'reasoning' : 'none'
    // Events with counts, tool calls or errors add to sums, so each of them is read.
    const isIdempotent = !isFailed && this.#sums === sums
    this.#repeated ??= new RepeatedEvent()
    if (content !== 'none' && isIdempotent) this.#repeated.learn(data, content, top, choices)
    else this.#repeated.forget()
    return content
  }

  /** Reads the value of a stream's field `error`. */
  errorField(data: string): void {
    this.#fail(jsonOrUndefined(data), data)
  }

  /**
   * Reads the next bytes of a body that is a JSON text. `isComplete`: they are the whole body, and `end`
   * follows in this turn.
   */
  data(chunk: Uint8Array, isComplete: boolean): void {
    if (this.#scan !== null) {
      this.#scan.push(chunk)
      return
    }
    if (isComplete && chunk.length <= longestParsed) {
      this.#document = asBuffer(chunk)
      return
    }
    this.#pieces ??= new ByteGather()
    this.#pieces.append(asBuffer(chunk))
    if (this.#pieces.length <= longestParsed) return
    this.#scan = scanOf(this.#pieces.content)
    this.#pieces = null
  }

  /** Call it at the end of the body. A body that is no JSON, or incomplete, reports nothing. */
  end(): void {
    const scan = this.#scan
    const body = this.#document ?? this.#pieces?.content ?? noBytes
    this.#document = null
    const value = scan === null ? jsonOrUndefined(withoutMark(body).toString()) : scan.value
    if (value === undefined) {
      // Broken JSON, or JSON that was too long to read, may be an answer.
      this.isEmpty = scan === null && formBegunBy(body) !== 'json'
      this.isCut = !this.isEmpty && (scan ?? scanOf(body)).isOpen
      return
    }
    if (scan !== null || (Array.isArray(value) && value.length > 0)) this.isEmpty = false
    const top = topOf(value)
    const choices = list(top['choices'])
    const saysFailure = this.#readTop(top, null, choices)
    this.#bodyChoices = choices.length
    this.#readPieces(top, choices, false)
    const status = this.#call.callType === 'chat' ? top['status'] : null
    this.isBackground ||= this.isPending
    if ((status === 'completed' || this.isPending) && this.#finishReasons.length === 0)
      this.#addReason(0, status)
    const hasAnswer = choices.length > 0 || top['data'] !== undefined
    const isFailed = saysFailure || status === 'failed' || (!hasAnswer && isSaid(errorOf(top)))
    this.failed = this.#status < 400 && isFailed
    if (this.#status >= 400 || this.failed || this.isEmpty) this.error = readError(value, this.#status)
  }

  /** Reads everything except figures. Returns true if the answer reports a failure. */
  #readTop(top: Fields, type: string | null, choices: readonly Fields[]): boolean {
    const { response, message, delta, item, content_block: block, incomplete_details: incomplete } = top
    const inner = fields(response)
    this.model ??=
      textOf(top['model'], longest.name) ??
      textOf(inner['model'], longest.name) ??
      textOf(fields(message)['model'], longest.name)
    // The newest: a stream of Responses begins with the tier that the request named.
    this.serviceTier =
      textOf(top['service_tier'], longest.name) ??
      textOf(inner['service_tier'], longest.name) ??
      this.serviceTier
    this.requestId ??=
      textOf(top['request_id'], longest.id) ?? textOf(fields(top['x_groq'])['id'], longest.id)
    this.#isStored ||= storedObjects.has(top['object'])
    const { id, status, background } = type === null ? top : inner
    this.responseId ??= textOf(id, longest.id)
    if (status !== undefined) this.isPending = pendingStates.has(status)
    this.isBackground ||= status === 'queued' || background === true
    if (this.isEmpty) this.isEmpty = choices.length === 0 && !saysSomething(top)
    let saysFailure = top['object'] === 'error'
    for (const choice of choices) {
      const { finish_reason: reason, error } = choice
      this.#addReason(indexOf(choice), reason)
      this.#addCalls(indexOf(choice), fields(choice['delta'] ?? choice['message']))
      saysFailure ||= reason === 'error' || isSaid(error)
    }
    this.#addReason(0, top['stop_reason'])
    this.#addReason(0, fields(delta)['stop_reason'])
    this.#addReason(0, fields(incomplete)['reason'])
    this.#addReason(0, fields(inner['incomplete_details'])['reason'])
    const items = inner['output'] ?? top['output'] ?? top['content'] ?? item ?? block
    if (items !== undefined) {
      this.tools ??= new ToolCalls()
      this.tools.addItems(type, list(Array.isArray(items) ? items : [items]))
    }
    return saysFailure
  }

  /** A number that changes with each event that adds to sums. */
  get #sums(): number {
    return this.#reported.countEvents + (this.tools?.reports ?? 0)
  }

  #addCalls(choice: number, { tool_calls: calls, function_call: called }: Fields): void {
    // The older form, `function_call`, has one call and no list.
    const all = isObject(called) ? [...list(calls), { function: called }] : list(calls)
    if (all.length === 0) return
    this.tools ??= new ToolCalls()
    this.tools.addCalls(choice, all)
  }

  /**
   * Reads the objects with figures. Timings belong to one choice: the event's own, or the last one. A usage
   * beside timings belongs to the same choice; any other usage belongs to all choices.
   */
  #readPieces(top: Fields, choices: readonly Fields[], isEvent: boolean): void {
    const pieces = this.#reported
    const { timings } = top
    const response = fields(top['response'])
    const usage =
      top['usage'] ?? response['usage'] ?? fields(top['x_groq'])['usage'] ?? choices.at(-1)?.['usage']
    const choice = isEvent && isObject(timings) ? this.#lastChoice : null
    if (!isEvent || hasCounts(usage)) pieces.note('usage', usage, choice)
    pieces.note('startUsage', fields(top['message'])['usage'], choice)
    pieces.note('timings', timings, choice)
    pieces.note('metrics', top['metrics'] ?? response['metrics'], choice)
    pieces.note('timeInfo', top['time_info'], choice)
    pieces.note('meta', top['meta'], choice)
    pieces.note('toolUsage', top['tool_usage'] ?? response['tool_usage'], choice)
    if (choices.length === 0 && top['cost'] !== undefined) pieces.note('cost', top['cost'], choice)
  }

  #addReason(index: number, reason: unknown): void {
    const text = textOf(reason, longest.reason)
    if (text === null) return
    this.marked = true
    const at = Math.min(index, mostChoices - 1)
    while (this.#finishReasons.length <= at) this.#finishReasons.push('')
    this.#finishReasons[at] = text
  }

  /** Notes the end mark of the Responses and Messages APIs, which is the type of an event. */
  #readType(type: string): void {
    if (type === 'response.completed' && this.#finishReasons.length === 0) this.#addReason(0, 'completed')
    this.marked ||= type === 'message_stop' || type === 'response.completed' || type === 'response.incomplete'
  }

  #fail(value: unknown, data: string): void {
    this.failed = true
    if (this.error !== null) return
    const error =
      value === undefined
        ? { code: null, message: data.slice(0, longestLooked) || null }
        : readError(typeof value === 'string' ? { error: value } : value, this.#status)
    if (error.code !== null || error.message !== null) this.error = error
  }
}

/** The answer's object, or the first object of a list, as in Gemini's errors. */
function topOf(value: unknown): Fields {
  return fields(Array.isArray(value) ? value[0] : value)
}

/**
 * True for an answer without choices that has content: a response's output or state, a message's or event's
 * content, or an error.
 */
function saysSomething(top: Fields): boolean {
  const { choices, error } = top
  if (choices !== undefined) return isSaid(error)
  return Object.keys(top).some((name) => !remarks.has(name))
}

/** The scan of a long body, or of a body that is no JSON. */
function scanOf(body: Buffer): JsonScan {
  const scan = new JsonScan(answerPlaces)
  scan.push(withoutMark(body))
  return scan
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === byteOrderMark[0] && byteOrderMark.equals(bytes.subarray(0, 3))
    ? bytes.subarray(3)
    : bytes
}

function errorOf(top: Fields): unknown {
  return top['error'] ?? fields(top['x_groq'])['error']
}

/** True for an error with content: a text, an object with members, or `true`. */
function isSaid(error: unknown): boolean {
  if (typeof error === 'object' && error !== null) return Object.keys(error).length > 0
  return error === tooLong || error === true || (typeof error === 'string' && error !== '')
}

function indexOf(choice: Fields | undefined): number {
  const index = choice?.['index']
  return isCount(index) ? index : 0
}

function textOf(value: unknown, most: number): string | null {
  return typeof value === 'string' && value !== '' && value.length <= most ? value : null
}
