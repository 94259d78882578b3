import type { Call } from '../../call/call.ts'
import { AnswerReader } from './answer-reader.ts'
import { ContentPace } from './content-pace.ts'
import { type SseReceiver, SseScanner } from './sse-scanner.ts'

/** Measures an answer that is a stream of events: what it says, and when its content came. */
export class StreamMeter implements SseReceiver {
  readonly answer: AnswerReader
  readonly pace: ContentPace = new ContentPace()
  readonly #scanner: SseScanner = new SseScanner(this)
  #atMs = 0
  /** Events with data. */
  totalEvents = 0

  constructor(call: Pick<Call, 'type' | 'method'>, status: number) {
    this.answer = new AnswerReader(call, status)
  }

  /** Whether an event was too long to be read: what is not seen may be in it. */
  get isPartial(): boolean {
    return this.#scanner.skippedEvents > 0
  }

  data(chunk: Uint8Array, atMs: number): void {
    this.#atMs = atMs
    this.#scanner.push(chunk)
  }

  end(isWhole: boolean): void {
    if (isWhole) this.#scanner.finish()
  }

  event(bytes: Buffer, start: number, end: number, isError: boolean): void {
    this.totalEvents++
    const content = this.answer.event(bytes, start, end, isError)
    if (content !== 'none') this.pace.add(this.#atMs, content === 'visible')
  }

  errorField(bytes: Buffer, start: number, end: number): void {
    this.answer.errorField(bytes, start, end)
  }
}
