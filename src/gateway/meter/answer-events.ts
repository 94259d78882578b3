import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { JsonScan } from '../../json/json-scan.ts'
import type { EventContent } from './added-content.ts'
import type { AnswerReader } from './answer-reader.ts'
import { answerPlaces, longestParsed } from './answer-shape.ts'
import { ContentPace } from './content-pace.ts'

type EventReader = Pick<AnswerReader, 'event' | 'parsedEvent' | 'errorField'>

/**
 * Splits a `text/event-stream` into events (WHATWG HTML §9.2.6), for any chunks. The reader gets each event, and the
 * pace notes when content came. Beyond the standard, a last event without its blank line counts if the body is
 * complete.
 */
export class AnswerEvents {
  readonly pace = new ContentPace()
  readonly #reader: EventReader
  readonly #text = new StringDecoder('utf8')
  /** The parser gets whole lines, because it drops an unknown field in an incomplete line. */
  readonly #parser = createParser({
    maxBufferSize: longestParsed,
    onEvent: ({ event, data }) => this.#add(this.#reader.event(data, event === 'error')),
    onError: ({ type, field, value = '' }) => {
      // Old llama.cpp servers send this field, which no standard has.
      if (field === 'error') this.#reader.errorField(value)
      if (type === 'max-buffer-size-exceeded') this.hasSkipped = this.#isOver = true
    },
  })
  /** The unfinished line. */
  #line = ''
  /** The scan of a line that is too long; null without one. */
  #scan: JsonScan | null = null
  #isOver = false
  /** Arrival time of the newest chunk (monotonic ms). */
  #atMs = 0
  /** True if a long event of several lines was skipped, with the rest of its chunk. */
  hasSkipped = false

  constructor(reader: EventReader) {
    this.#reader = reader
  }

  push(chunk: Uint8Array, atMs: number): void {
    this.#atMs = atMs
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
    this.#add(this.#reader.parsedEvent(scan.value, false))
    this.#read(text.slice(end))
  }

  #add(content: EventContent): void {
    if (content !== 'none') this.pace.add(this.#atMs, content === 'visible')
  }
}
