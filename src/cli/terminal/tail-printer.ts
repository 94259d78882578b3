import type { EventSourceMessage } from 'eventsource-parser'
import type { CallStarted, OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { either, readMessage } from '../../lib/message-shape.ts'
import { isFeedNote, isFeedRecord } from '../../supervisor/feed-events.ts'
import { count } from './figures.ts'
import { HeldRequests } from './held-requests.ts'
import { bodyLines, endLine, requestLine, startLine, type TailStyle, toneOf } from './tail-lines.ts'
import type { Terminal } from './terminal.ts'

/** Which calls are printed, and how much of each. */
export interface TailOptions {
  readonly body: boolean
  readonly full: boolean
  readonly errors: boolean
  readonly model: readonly string[]
  readonly json: boolean
}

type TailOutput = Pick<Terminal, 'clock' | 'print' | 'warn' | 'width' | 'color'>

const isFeedEvent = either(isFeedNote, isFeedRecord)
/** A restart is over before this, and nothing is said of it. */
const patienceMs = 1500

/** Prints what the feed tells. */
export class TailPrinter {
  readonly #options: TailOptions
  readonly #output: TailOutput
  readonly #name: () => string
  /** If only calls that fail are asked for: those that may yet. */
  readonly #held = new HeldRequests()
  #isGreeted = false
  #saidLost = false
  #cancelLost: (() => void) | null = null

  constructor(options: TailOptions, output: TailOutput, name: () => string) {
    this.#options = options
    this.#output = output
    this.#name = name
  }

  take({ data }: EventSourceMessage): void {
    const event = readMessage(data, isFeedEvent)
    if (event === null) return
    if (!('type' in event)) this.#takeRecord(event, data)
    else if (event.type === 'connected') this.#greet(event.enabled)
    else if (event.type === 'dropped') this.#note(droppedWords(event.count))
    else this.#takeStart(event)
  }

  lost(): void {
    this.#cancelLost = this.#output.clock.after(
      patienceMs,
      () => {
        this.#saidLost = true
        this.#note('the gateway has gone away; waiting for it')
      },
      { background: true },
    )
  }

  end(): void {
    this.#cancelLost?.()
  }

  #greet(isLogging: boolean): void {
    this.#cancelLost?.()
    if (this.#saidLost) this.#note('the gateway is there again')
    this.#saidLost = false
    if (this.#isGreeted) return
    this.#isGreeted = true
    const kept = isLogging
      ? 'what passes is kept in its log too'
      : 'nothing of it is kept: --raw-log at its start, or the switch in the Live view, keeps payloads'
    this.#note(`following the gateway on ${this.#name()}; ${kept}`)
  }

  /** Of which model a call asks is not known at its start, nor how it will end. */
  #takeStart(event: CallStarted): void {
    const { json, errors, model, body } = this.#options
    if (json || errors || body || model.length > 0) return
    this.#print(startLine(event, this.#style()))
  }

  #takeRecord(record: PayloadRecord | OutgoingRecord, data: string): void {
    const { errors, model, json, body } = this.#options
    if (model.length > 0 && !model.includes(record.model ?? '')) return
    if (!isAnswer(record)) {
      if (errors) this.#held.add(record, data)
      else if (json) this.#print(safeJson(data))
      else if (body || model.length > 0) this.#printWithBody(requestLine(record, this.#style()), record)
      return
    }
    if (errors) {
      const request = this.#held.take(record.id)
      if (toneOf(record) !== 'failed') return
      if (request !== null && json) this.#print(safeJson(request.data))
      else if (request !== null && body)
        this.#printWithBody(requestLine(request.record, this.#style()), request.record)
    }
    if (json) this.#print(safeJson(data))
    else this.#printWithBody(endLine(record, this.#style()), record)
  }

  #printWithBody(line: string, record: PayloadRecord): void {
    this.#print(line)
    if (this.#options.body) this.#print(bodyLines(record, this.#options.full, this.#style()))
  }

  #print(line: string): void {
    this.#output.print(`${line}\n`)
  }

  #note(words: string): void {
    this.#output.warn(`tokenweir: ${words}\n`)
  }

  #style(): TailStyle {
    const { width, color, clock } = this.#output
    return { width: width(), color, nowMs: clock.wallTime() }
  }
}

function isAnswer(record: PayloadRecord | OutgoingRecord): record is OutgoingRecord {
  return record.direction === 'outgoing'
}

function droppedWords(dropped: number | null): string {
  if (dropped === null) return 'requests and answers may be missing here: they came while nobody listened'
  const what = dropped === 1 ? '1 request or answer is' : `${count(dropped)} requests and answers are`
  return `${what} missing here: they came too fast`
}

/** JSON stands for the same with its control characters written as escapes, which no terminal obeys. */
function safeJson(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
