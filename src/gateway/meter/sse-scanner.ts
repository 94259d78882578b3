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
  /** The begin of a line whose end is still to come. */
  #line = new ByteGather()
  /** The event's data as far as it is not in the chunk at hand; from `#heldStart` on. */
  #held = new ByteGather()
  #heldStart = 0
  /** Whether the event has data, and where: in the chunk at `#dataStart`, or held where that is -1. */
  #hasData = false
  #dataStart = -1
  #dataEnd = -1
  #isError = false
  #isFirstLine = true
  #afterCr = false
  /** The event is too long: all up to the next blank line is dropped. */
  #skipping = false
  /** The line at hand has bytes that were dropped. */
  #lineDropped = false
  /** Events that were longer than the limit. */
  skippedEvents = 0

  constructor(receiver: SseReceiver, eventLimit: number = defaultEventLimit) {
    this.#receiver = receiver
    this.#eventLimit = eventLimit
  }

  push(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk)
    const end = bytes.length
    let at = 0
    let nextCr = -2
    let nextLf = -2
    while (at < end) {
      if (this.#afterCr) {
        this.#afterCr = false
        if (bytes[at] === lf) {
          at++
          continue
        }
      }
      if (nextCr !== -1 && nextCr < at) nextCr = bytes.indexOf(cr, at)
      if (nextLf !== -1 && nextLf < at) nextLf = bytes[at] === lf ? at : bytes.indexOf(lf, at)
      const lineEnd = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf) ? nextCr : nextLf
      if (lineEnd < 0) {
        this.#keepLine(bytes, at, end)
        break
      }
      this.#afterCr = lineEnd === nextCr
      if (this.#line.length > 0 || this.#lineDropped) this.#splitLine(bytes, at, lineEnd)
      else this.#wholeLine(bytes, at, lineEnd)
      at = lineEnd + 1
    }
    if (this.#dataStart >= 0) this.#hold(bytes)
  }

  /** The body ends here. */
  finish(): void {
    if (this.#line.length > 0 || this.#lineDropped) this.#splitLine(lineFeed, 0, 0)
    this.#dispatch(lineFeed)
  }

  #keepLine(bytes: Buffer, start: number, end: number): void {
    if (this.#skipping) {
      this.#lineDropped = true
    } else if (this.#line.length + this.#held.length + end - start > this.#eventLimit) {
      this.#skip()
      this.#lineDropped = true
    } else this.#line.append(bytes, start, end)
  }

  /** A line whose begin came in an earlier chunk. */
  #splitLine(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#keepLine(bytes, start, end)
    if (this.#lineDropped) {
      this.#lineDropped = false
      this.#isFirstLine = false
      return
    }
    const line = this.#line
    this.#takeLine(line.bytes, 0, line.length)
    if (this.#dataStart >= 0) {
      // The line becomes what is held, so that it need not be copied again.
      this.#line = this.#held
      this.#held = line
      this.#heldStart = this.#dataStart
      this.#dataStart = -1
    }
    this.#line.clear()
  }

  #wholeLine(bytes: Buffer, start: number, end: number): void {
    if (end === start) {
      this.#isFirstLine = false
      this.#dispatch(bytes)
    } else if (!this.#skipping) this.#takeLine(bytes, start, end)
  }

  #takeLine(bytes: Buffer, lineStart: number, end: number): void {
    let start = lineStart
    if (this.#isFirstLine) {
      this.#isFirstLine = false
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3
      if (start === end) return
    }
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
    if (this.#hasData) {
      if (this.#dataStart >= 0) this.#hold(bytes)
      if (this.#held.length + end - start >= this.#eventLimit) {
        this.#skip()
        return
      }
      this.#held.append(lineFeed, 0, 1)
      this.#held.append(bytes, start, end)
      return
    }
    if (end - start > this.#eventLimit) {
      this.#skip()
      return
    }
    this.#hasData = true
    this.#dataStart = start
    this.#dataEnd = end
  }

  /** Copies the data out of the chunk. */
  #hold(bytes: Buffer): void {
    this.#heldStart = 0
    this.#held.append(bytes, this.#dataStart, this.#dataEnd)
    this.#dataStart = -1
  }

  #dispatch(bytes: Buffer): void {
    if (this.#skipping) this.skippedEvents++
    else if (this.#hasData) {
      if (this.#dataStart >= 0) {
        this.#receiver.event(bytes, this.#dataStart, this.#dataEnd, this.#isError)
      } else {
        this.#receiver.event(this.#held.bytes, this.#heldStart, this.#held.length, this.#isError)
        this.#held.clear()
      }
    }
    this.#skipping = false
    this.#hasData = false
    this.#dataStart = -1
    this.#isError = false
  }

  #skip(): void {
    this.#skipping = true
    this.#hasData = false
    this.#dataStart = -1
    this.#line.release()
    this.#held.release()
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
