import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { UsageEventShape } from './usage-event-shape.ts'

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const longestName = 5
const lineFeed = Buffer.of(lf)
/** Bytes of one event that are held at most; a longer one is passed on. */
const defaultHoldLimit = 65_536

/**
 * Takes the usage-only events out of a `text/event-stream` (WHATWG HTML §9.2.6), and leaves every other byte as
 * and where it is, whatever the chunks. Holds back only the begin of an event that may still be one of those:
 * in the ordinary case a chunk goes through as the very object that came.
 *
 * Comments before an event are not part of it; what stands between an event's first field and its blank line is.
 */
export class UsageEventFilter {
  readonly #holdLimit: number
  readonly #shape = new UsageEventShape()
  readonly #held = new ByteGather()
  /** An event has begun, and is still a candidate, or is known not to be one. */
  #event: 'none' | 'candidate' | 'refuted' = 'none'
  /** What the line at hand is, as far as it has come. */
  #line: 'empty' | 'name' | 'data' | 'other' = 'empty'
  readonly #name = new Uint8Array(longestName)
  #nameLength = 0
  /** The last byte was a CR: an LF belongs to the same line end. */
  #afterCr = false
  /** That line end was taken out, with the event that it closed. */
  #dropLf = false
  #removedEvents = 0

  constructor(holdLimit: number = defaultHoldLimit) {
    this.#holdLimit = holdLimit
  }

  get removedEvents(): number {
    return this.#removedEvents
  }

  /** What of the stream is to go on now, `null` for nothing. Nothing of the chunk is kept but as a copy. */
  push(chunk: Uint8Array): Uint8Array | null {
    const bytes = asBuffer(chunk)
    const end = bytes.length
    // Between two events, and again at its end: the ordinary chunk, which needs no walk.
    const isBetween = this.#event === 'none' && this.#line === 'empty' && !this.#afterCr
    if (isBetween && endsEvent(bytes) && !holdsEmptyArray(bytes)) return chunk
    const out: Uint8Array[] = []
    let from = 0
    let at = 0
    /** Where in this chunk the held bytes begin. */
    let holdFrom = 0
    let nextCr = -2
    let nextLf = -2
    while (at < end) {
      if (this.#afterCr) {
        this.#afterCr = false
        if (bytes[at] === lf) {
          at++
          if (this.#dropLf) from = at
          this.#dropLf = false
          continue
        }
        this.#dropLf = false
      }
      if (nextCr !== -1 && nextCr < at) nextCr = bytes.indexOf(cr, at)
      if (nextLf !== -1 && nextLf < at) nextLf = bytes[at] === lf ? at : bytes.indexOf(lf, at)
      const lineEnd = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf) ? nextCr : nextLf
      const stop = lineEnd < 0 ? end : lineEnd
      if (stop > at) {
        if (this.#event === 'none' && this.#line === 'empty' && bytes[at] !== colon) {
          this.#beginEvent()
          holdFrom = at
        }
        if (this.#event !== 'refuted') this.#take(bytes, at, stop)
        else this.#line = 'other'
        if (this.#isRefuted()) this.#refute(out)
      }
      if (lineEnd < 0) break
      this.#afterCr = lineEnd === nextCr
      at = lineEnd + 1
      if (this.#line !== 'empty') this.#endLine(out)
      else if (this.#closeEvent(out)) {
        if (holdFrom > from) out.push(bytes.subarray(from, holdFrom))
        from = at
        this.#dropLf = this.#afterCr
      }
    }
    let passed = end
    if (this.#event === 'candidate') {
      if (this.#held.length + end - holdFrom > this.#holdLimit) this.#refute(out)
      else {
        this.#held.append(bytes, holdFrom, end)
        passed = holdFrom
      }
    }
    if (out.length === 0 && from === 0 && passed === end) return chunk
    if (passed > from) out.push(bytes.subarray(from, passed))
    return joined(out)
  }

  /** The stream is complete: what is held, unless it is such an event that only lacks its blank line. */
  finish(): Uint8Array | null {
    const isWhole = this.#line === 'empty' || this.#line === 'data'
    if (this.#event === 'candidate' && isWhole && this.#shape.verdict === 'yes') {
      this.#removedEvents++
      this.#held.release()
    }
    return this.release()
  }

  /** What is held goes on, whatever it is. */
  release(): Uint8Array | null {
    const out: Uint8Array[] = []
    this.#refute(out)
    return joined(out)
  }

  #beginEvent(): void {
    this.#event = 'candidate'
    this.#shape.reset()
  }

  #refute(out: Uint8Array[]): void {
    this.#event = 'refuted'
    if (this.#held.length === 0) return
    out.push(Buffer.from(this.#held.bytes.subarray(0, this.#held.length)))
    this.#held.clear()
  }

  /** A piece of the line at hand, without its end. */
  #take(bytes: Buffer, start: number, end: number): void {
    let at = start
    if (this.#line === 'empty') {
      this.#line = bytes[at] === colon ? 'other' : 'name'
      this.#nameLength = 0
    }
    while (this.#line === 'name' && at < end) {
      const byte = bytes[at++] ?? 0
      if (byte === colon) this.#nameEnds()
      else if (this.#nameLength < longestName) this.#name[this.#nameLength++] = byte
      else this.#shape.refute()
      if (this.#shape.verdict === 'no') return
    }
    if (this.#line === 'data' && this.#event === 'candidate') this.#shape.push(bytes, at, end)
  }

  #nameEnds(): void {
    if (this.#isNamed('data')) this.#line = 'data'
    else {
      this.#line = 'other'
      // What no event that was asked for has, be it a `retry` or an upstream's own invention, is left alone.
      if (!this.#isNamed('event') && !this.#isNamed('id')) this.#shape.refute()
    }
  }

  #isNamed(name: string): boolean {
    if (this.#nameLength !== name.length) return false
    for (let i = 0; i < name.length; i++) if (this.#name[i] !== name.charCodeAt(i)) return false
    return true
  }

  #isRefuted(): boolean {
    return this.#event === 'candidate' && this.#shape.verdict === 'no'
  }

  /** The end of a line that is not blank. */
  #endLine(out: Uint8Array[]): void {
    if (this.#event === 'candidate') {
      if (this.#line === 'name') this.#nameEnds()
      // The data of several lines is joined by line feeds.
      if (this.#line === 'data') this.#shape.push(lineFeed, 0, 1)
      if (this.#isRefuted()) this.#refute(out)
    }
    this.#line = 'empty'
  }

  /** The event at hand is over. Answers true where it is to be left out; nothing of it is held any more. */
  #closeEvent(out: Uint8Array[]): boolean {
    const wasCandidate = this.#event === 'candidate'
    const isRemoved = wasCandidate && this.#shape.verdict === 'yes'
    if (isRemoved) {
      this.#removedEvents++
      this.#held.clear()
    } else if (wasCandidate) this.#refute(out)
    this.#event = 'none'
    return isRemoved
  }
}

/** Whether the last two lines end here: what comes next begins an event. */
function endsEvent(bytes: Buffer): boolean {
  const { length } = bytes
  if (length < 2 || bytes[length - 1] !== lf) return false
  if (bytes[length - 2] === lf) return true
  return length > 3 && bytes[length - 2] === cr && bytes[length - 3] === lf && bytes[length - 4] === cr
}

/** Whether there is an array without elements; a usage event's `choices` is one. */
function holdsEmptyArray(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(closeBracket); at > 0; at = bytes.indexOf(closeBracket, at + 1)) {
    let before = at - 1
    while (before > 0 && (bytes[before] ?? 0) <= 0x20) before--
    if (bytes[before] === openBracket) return true
  }
  return false
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | null {
  if (pieces.length < 2) return pieces[0] ?? null
  return Buffer.concat(pieces)
}
