import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { JsonScan } from '../../json/json-scan.ts'
import { answerPlaces, longestParsed } from './answer-shape.ts'

/** Receives the events and fields that {@link AnswerEvents} reads. */
export interface EventReceiver {
  /** Called with the data of an event, its lines joined by LF. `isError`: the event's name is `error`. */
  event(data: string, isError: boolean): void
  /** Called with the wanted places of an event that is too long to be parsed; `undefined` if it is no JSON. */
  longEvent(value: unknown): void
  /** Called with the value of a field `error`, which no standard has and old llama.cpp servers send. */
  errorField(value: string): void
}

/**
 * Splits a `text/event-stream` into events (WHATWG HTML §9.2.6), for any chunks. Beyond the standard, a last
 * event without its blank line counts if the body is complete.
 */
export class AnswerEvents {
  readonly #receiver: EventReceiver
  readonly #text = new StringDecoder('utf8')
  /** The parser gets whole lines, because it drops an unknown field in an incomplete line. */
  readonly #parser = createParser({
    maxBufferSize: longestParsed,
    onEvent: ({ event, data }) => this.#receiver.event(data, event === 'error'),
    onError: ({ type, field, value = '' }) => {
      if (field === 'error') this.#receiver.errorField(value)
      if (type === 'max-buffer-size-exceeded') this.hasSkipped = this.#isOver = true
    },
  })
  /** The unfinished line. */
  #line = ''
  /** The scan of a line that is too long; null without one. */
  #scan: JsonScan | null = null
  #isOver = false
  /** True if a long event of several lines was skipped, with the rest of its chunk. */
  hasSkipped = false

  constructor(receiver: EventReceiver) {
    this.#receiver = receiver
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#text.write(chunk))
  }

  /** Call it when the body is complete. */
  finish(): void {
    this.#read(`${this.#text.end()}\n\n`)
  }

  #read(text: string): void {
    if (this.#scan !== null) {
      this.#readLong(this.#scan, text)
      return
    }
    const end = text.endsWith('\n')
      ? text.length
      : Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
    if (end > 0) this.#parser.feed(this.#line + text.slice(0, end))
    if (this.#isOver) this.#parser.reset()
    this.#isOver = false
    this.#line = end > 0 ? text.slice(end) : this.#line + text
    if (this.#line.length <= longestParsed) return
    this.#scan = new JsonScan(answerPlaces)
    this.#readLong(this.#scan, this.#line.replace(/^data: ?/, ''))
    this.#line = ''
  }

  #readLong(scan: JsonScan, text: string): void {
    const end = text.search(/[\r\n]/)
    scan.push(Buffer.from(end < 0 ? text : text.slice(0, end)))
    if (end < 0) return
    this.#scan = null
    this.#receiver.longEvent(scan.value)
    this.#read(text.slice(end))
  }
}
