import type { LiveCall as ToldCall, LiveState } from '../../src/api/live-calls.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { type EndedCall, type JudgedCall, isFailure } from '../data/failure-text.ts'
import { bytes } from '../format/figures.ts'
import type { KeptPayloads } from './kept-payload.ts'
import { readAnswer } from './read-answer.ts'
import { readError } from './read-error.ts'
import { wordsOf } from './read-messages.ts'
import { lastMessageOf } from './read-request.ts'
import { firstWords } from './shown-text.ts'

/** The most characters in a row's texts, a few more than the widest window shows. */
const wordsLength = 180

/** The facts that are known when a call begins. */
export interface CallHead {
  readonly id: string
  readonly startedMs: number
  readonly path: string
}

/**
 * A call of the Live view, the same object as long as it is listed. Records are kept as JSON text, which takes a
 * fraction of the parsed values' memory. Only the texts of the call's row are parsed at once.
 */
export class LiveCall {
  readonly id: string
  /** The call's place in the order of arrival on the page. */
  readonly number: number
  readonly startedMs: number
  readonly path: string
  /** Increases with each change of the call. */
  version = 0
  /** The outcome of the call; null while unknown. */
  ended: JudgedCall | null = null
  /** The instant when the outcome arrived, by the browser's clock; null until then. */
  endHeardMs: number | null = null
  durationMs: number | null = null
  /** The recorded call; null until then. */
  row: CallJson | null = null
  model: string | null = null
  /** The last message of the request; empty while unknown. */
  promptWords = ''
  answerWords = ''
  /** True if the page may have missed the call's end. */
  isLost = false
  /** The gateway's state of the call; `over` once it is no longer listed; null before the first report. */
  state: LiveState | 'over' | null = null
  #requestJson: string | null = null
  #answerJson: string | null = null
  #isCut = false
  #sought: { readonly pattern: RegExp; readonly version: number; readonly isFound: boolean } | null = null

  constructor(head: CallHead, number: number) {
    this.id = head.id
    this.number = number
    this.startedMs = head.startedMs
    this.path = head.path
  }

  /** The characters of the call's JSON in memory. */
  get heldLength(): number {
    return (this.#requestJson?.length ?? 0) + (this.#answerJson?.length ?? 0)
  }

  /** True if the call has not ended, as far as the page knows. */
  get isUnderWay(): boolean {
    return this.ended === null && !this.isLost
  }

  /** True if the page has all of the call's records. */
  get isComplete(): boolean {
    const isAnswerThere = this.isUnderWay || this.#answerJson !== null
    return this.#requestJson !== null && isAnswerThere && !this.#isCut
  }

  takeRequest(record: PayloadRecord, json: string): void {
    this.#requestJson = json
    this.#take(record)
    this.promptWords = promptWordsOf(record)
  }

  takeAnswer(record: OutgoingRecord, json: string): void {
    this.#answerJson = json
    this.#take(record)
    this.#end(record)
    this.answerWords = answerWordsOf(record)
  }

  /** Applies the state in the gateway's report. */
  takeState({ state, model }: Pick<ToldCall, 'state' | 'model'>): void {
    if (this.ended !== null || (this.state === state && !this.isLost)) return
    this.state = state
    this.model ??= model
    this.isLost = false
    this.version += 1
  }

  /** Notes that the gateway no longer lists the call: it has ended, and its outcome may still arrive. */
  leave(): void {
    this.lose()
    this.state = 'over'
  }

  /** Applies the recorded call, and its outcome if that is unknown. */
  takeRow(row: CallJson): void {
    this.row = row
    if (this.ended !== null) return
    this.#end(row)
    this.model = row.model
    this.version += 1
  }

  /** Notes that the page may have missed the call's end. */
  lose(): void {
    if (!this.isUnderWay) return
    this.isLost = true
    this.version += 1
  }

  /** Drops the call's JSON, except the texts of its row. */
  release(): void {
    if (this.heldLength === 0) return
    this.#requestJson = null
    this.#answerJson = null
    this.version += 1
  }

  /** Returns the parsed records; null for a record that did not arrive or was dropped. */
  payloads(): KeptPayloads {
    const [request, answer] = [this.#requestJson, this.#answerJson]
    return {
      request: request === null ? null : { record: JSON.parse(request) as PayloadRecord, json: request },
      answer: answer === null ? null : { record: JSON.parse(answer) as OutgoingRecord, json: answer },
    }
  }

  /** True if the call's records or its row contain the pattern. */
  has(pattern: RegExp): boolean {
    if (this.#sought?.pattern !== pattern || this.#sought.version !== this.version) {
      const texts = [
        this.#requestJson ?? this.promptWords,
        this.#answerJson ?? this.answerWords,
        `${this.id} ${this.path} ${this.model}`,
      ]
      this.#sought = { pattern, version: this.version, isFound: texts.some((text) => pattern.test(text)) }
    }
    return this.#sought.isFound
  }

  #end(end: EndedCall & { readonly duration_ms: number | null }): void {
    const { outcome, status, failure_code, duration_ms: durationMs } = end
    this.isLost = false
    this.ended = { outcome, status, failure_code, failed: isFailure(outcome) }
    this.endHeardMs = Date.now()
    this.durationMs = durationMs
  }

  #take({ model, truncated }: PayloadRecord): void {
    this.version += 1
    this.model = model ?? this.model
    this.#isCut ||= truncated
  }
}

function promptWordsOf(record: PayloadRecord): string {
  const { body, body_bytes: size, truncated } = record
  if (record.body_encoding === 'base64') return `${bytes(size)} that are no text`
  const message = lastMessageOf(body)
  if (message !== null) {
    const words = firstWords(wordsOf(message.parts), wordsLength)
    return message.parts[0]?.kind === 'result' ? `Tool: ${words}` : words
  }
  if (truncated && typeof body === 'string') {
    const task = firstUserText(body)
    return task === ''
      ? `${bytes(size)}, too long for this list`
      : `${bytes(size)}: ${firstWords(task, wordsLength)}`
  }
  return typeof body === 'string' ? firstWords(body, wordsLength) : ''
}

/** Returns the first user message of a truncated request, which is an agent's task. Empty if it is not found. */
function firstUserText(json: string): string {
  const [, text] =
    /"role"\s*:\s*"user"\s*,\s*"content"\s*:\s*(?:\[\s*\{\s*"type"\s*:\s*"\w+"\s*,\s*"text"\s*:\s*)?"((?:[^"\\]|\\.){1,400})/.exec(
      json,
    ) ?? []
  if (text === undefined) return ''
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return ''
  }
}

function answerWordsOf(record: OutgoingRecord): string {
  const messages = record.truncated && typeof record.body !== 'string' ? [] : readAnswer(record)
  const visibleParts = messages.flatMap(({ parts }) => parts.filter(({ kind }) => kind !== 'reasoning'))
  if (visibleParts.length > 0) return firstWords(wordsOf(visibleParts), wordsLength)
  if (record.outcome !== 'ok') return firstWords(readError(record.body)?.message ?? '', wordsLength)
  const reasoning = messages.flatMap(({ parts }) => parts)
  if (reasoning.length > 0) return firstWords(wordsOf(reasoning), wordsLength)
  return record.truncated ? `${bytes(record.body_bytes)}, too long for this list` : ''
}
