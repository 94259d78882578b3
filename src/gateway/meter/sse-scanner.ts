import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { isAscii } from '../../json/json-piece.ts'

/** What an {@link SseScanner} finds. The bytes are only good during the call. */
export interface SseReceiver {
  /** An event with data; several `data` lines are joined by LF. `isError`: its name is `error`. */
  event(bytes: Buffer, start: number, end: number, isError: boolean): void
  /** The value of a field called `error`, which no standard knows and old llama.cpp servers send. */
  errorField(bytes: Buffer, start: number, end: number): void
}

const lf = 0x0a
const cr = 0x0d
const space = 0x20
const colon = 0x3a
const letterD = 0x64
/** Bytes of an event that are held at most while its end is still to come. */
const defaultEventLimit = 8 * 1024 * 1024
const lineFeed = Buffer.from('\n')

/**
 * Cuts a `text/event-stream` into its events (WHATWG HTML §9.2.6), whatever the chunks. What lies within one
 * chunk is handed on where it stands; only what crosses a border is copied. Beyond the WHATWG's rules, an event that
 * the end of the body leaves without its blank line counts.
 */
export class SseScanner {
  readonly #receiver: SseReceiver
  readonly #eventLimit: number
  /** What earlier chunks have left: the one line of data of the event at hand, if there is, and the begin of a line. */
  readonly #held = new ByteGather()
  #lineStart = 0
  /** The event's data if it is one line: where it stands in the bytes at hand; -1 if it is not. */
  #dataStart = -1
  #dataEnd = -1
  /** The event's data if it is several lines. */
  readonly #joined = new ByteGather()
  #isError = false
  #isFirstLine = true
  #afterCr = false
  /** The event is too long: all up to the next blank line is dropped. */
  #skipping = false
  /** Events that were longer than the limit. */
  skippedEvents = 0

  constructor(receiver: SseReceiver, eventLimit: number = defaultEventLimit) {
    this.#receiver = receiver
    this.#eventLimit = eventLimit
  }

  push(chunk: Uint8Array): void {
    let bytes = asBuffer(chunk)
    let at = this.#held.length
    if (at > 0) {
      this.#held.append(bytes, 0, bytes.length)
      bytes = this.#held.bytes.subarray(0, this.#held.length)
    }
    let line = this.#lineStart
    let nextCr = -2
    let nextLf = -2
    while (at < bytes.length) {
      if (this.#afterCr) {
        this.#afterCr = false
        if (bytes[at] === lf) {
          line = ++at
          continue
        }
      }
      if (nextCr !== -1 && nextCr < at) nextCr = bytes.indexOf(cr, at)
      if (nextLf !== -1 && nextLf < at) nextLf = bytes[at] === lf ? at : bytes.indexOf(lf, at)
      const lineEnd = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf) ? nextCr : nextLf
      if (lineEnd < 0) break
      this.#afterCr = lineEnd === nextCr
      if (lineEnd > line) this.#takeLine(bytes, line, lineEnd)
      else this.#dispatch(bytes)
      line = at = lineEnd + 1
    }
    this.#keep(bytes, line)
  }

  /** The body ends here. */
  finish(): void {
    const { length } = this.#held
    const bytes = length > 0 ? this.#held.bytes : lineFeed
    if (length > this.#lineStart) this.#takeLine(bytes, this.#lineStart, length)
    this.#dispatch(bytes)
  }

  /** Copies what is still wanted when the chunk is gone; `line` is where the unfinished line begins. */
  #keep(bytes: Buffer, line: number): void {
    let start = this.#dataStart >= 0 ? this.#dataStart : line
    let end = bytes.length
    if (end - start + this.#joined.length > this.#eventLimit) this.#skip()
    if (this.#skipping) {
      // Of the line it only matters that it is not empty.
      start = line
      end = Math.min(end, line + 1)
    }
    this.#lineStart = line - start
    if (this.#dataStart >= 0) {
      this.#dataStart -= start
      this.#dataEnd -= start
    }
    if (end - start === this.#held.length) return
    const kept = this.#held.length > 0 ? Buffer.from(bytes.subarray(start, end)) : bytes.subarray(start, end)
    this.#held.clear()
    if (kept.length > 0) this.#held.append(kept, 0, kept.length)
  }

  #takeLine(bytes: Buffer, lineStart: number, end: number): void {
    let start = lineStart
    if (this.#isFirstLine && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf)
      start += 3
    this.#isFirstLine = false
    if (this.#skipping || start === end) return
    const first = bytes[start]
    if (first === colon) return
    if (first === letterD && isField(bytes, start, end, 'data')) {
      this.#takeData(bytes, valueStart(bytes, start + 4, end), end)
    } else if (isField(bytes, start, end, 'event')) {
      this.#isError = isAscii(bytes, valueStart(bytes, start + 5, end), end, 'error')
    } else if (isField(bytes, start, end, 'error')) {
      this.#receiver.errorField(bytes, valueStart(bytes, start + 5, end), end)
    }
  }

  #takeData(bytes: Buffer, start: number, end: number): void {
    if (this.#dataStart < 0 && this.#joined.length === 0) {
      this.#dataStart = start
      this.#dataEnd = end
    } else {
      if (this.#dataStart >= 0) this.#joined.append(bytes, this.#dataStart, this.#dataEnd)
      this.#dataStart = -1
      this.#joined.append(lineFeed, 0, 1)
      this.#joined.append(bytes, start, end)
    }
    if (Math.max(this.#joined.length, end - start) > this.#eventLimit) this.#skip()
  }

  #dispatch(bytes: Buffer): void {
    const { length } = this.#joined
    if (this.#skipping) this.skippedEvents++
    else if (length > 0) this.#receiver.event(this.#joined.bytes, 0, length, this.#isError)
    else if (this.#dataStart >= 0) {
      this.#receiver.event(bytes, this.#dataStart, this.#dataEnd, this.#isError)
    }
    this.#joined.clear()
    this.#isFirstLine = false
    this.#skipping = false
    this.#dataStart = -1
    this.#isError = false
  }

  #skip(): void {
    this.#skipping = true
    this.#dataStart = -1
    this.#joined.release()
  }
}

function isField(bytes: Buffer, start: number, end: number, name: string): boolean {
  const nameEnd = start + name.length
  if (nameEnd > end || (nameEnd < end && bytes[nameEnd] !== colon)) return false
  return isAscii(bytes, start, nameEnd, name)
}

/** Where the value begins, given where the name ends: after the colon and at most one space. */
function valueStart(bytes: Buffer, nameEnd: number, end: number): number {
  const start = Math.min(nameEnd + 1, end)
  return start < end && bytes[start] === space ? start + 1 : start
}
