import { LineReader } from './line-reader.ts'

/** One event of a stream. */
export interface SseEvent {
  readonly name: string | null
  /** Its own; null where it has none. */
  readonly id: string | null
  readonly data: string
}

/** Reads a text/event-stream (HTML Standard §9.2.6) whose lines end in LF or CRLF, as those of our own servers do. */
export class SseReader {
  readonly #onEvent: (event: SseEvent) => void
  readonly #lines: LineReader = new LineReader((line) => this.#take(line))
  #data: string[] = []
  #name: string | null = null
  #id: string | null = null

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent
  }

  add(text: string): void {
    this.#lines.add(text)
  }

  #take(lineWithCr: string): void {
    const line = lineWithCr.endsWith('\r') ? lineWithCr.slice(0, -1) : lineWithCr
    if (line === '') {
      this.#dispatch()
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#name = value
    else if (field === 'id') this.#id = value
  }

  #dispatch(): void {
    const event = { name: this.#name, id: this.#id, data: this.#data.join('\n') }
    const hasData = this.#data.length > 0
    this.#name = null
    this.#id = null
    this.#data = []
    if (hasData) this.#onEvent(event)
  }
}
