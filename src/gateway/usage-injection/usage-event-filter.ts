import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { goesOn, holdsChoice, isUsageEvent, lacksTimings, readEventData, withTimings } from './usage-event.ts'

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const finishMember = '"finish_reason":"'
/** Bytes of one event that are held at most; a longer one is passed on. */
const defaultHoldLimit = 65_536

export interface UsageEventFilterOptions {
  readonly holdLimit?: number
  /**
   * The upstream is llama.cpp, which moves the `timings` of a choice's last event to the usage event that follows: that
   * last event is held until the next one has come, and gets its timings back.
   */
  readonly restoresTimings?: boolean
}

/**
 * Takes the usage-only events out of a `text/event-stream` (WHATWG HTML §9.2.6), and leaves every other byte as
 * and where it is, whatever the chunks. Holds back only the begin of an event that may still be one of those:
 * in the ordinary case a chunk goes through as the very object that came.
 *
 * Comments before an event are not part of it; what stands between an event's first field and its blank line is.
 */
export class UsageEventFilter {
  readonly #holdLimit: number
  readonly #restoresTimings: boolean
  /** The unfinished event of earlier chunks, as long as it is a candidate. */
  readonly #held = new ByteGather()
  /** A choice's last event, whole, whose timings may come with the next. */
  #finish: string | null = null
  /** An event has begun, and is still a candidate, or is known not to be one. */
  #event: 'none' | 'candidate' | 'refuted' = 'none'
  #isLineEmpty = true
  /** The last byte was a CR: an LF belongs to the same line end. */
  #afterCr = false
  /** That line end was taken out, with the event that it closed. */
  #dropLf = false
  #removedEvents = 0

  constructor({ holdLimit = defaultHoldLimit, restoresTimings = false }: UsageEventFilterOptions = {}) {
    this.#holdLimit = holdLimit
    this.#restoresTimings = restoresTimings
  }

  get removedEvents(): number {
    return this.#removedEvents
  }

  /** What of the stream is to go on now, `null` for nothing. Nothing of the chunk is kept but as a copy. */
  push(chunk: Uint8Array): Uint8Array | null {
    const bytes = asBuffer(chunk)
    const end = bytes.length
    if (this.#isOrdinary(bytes)) return chunk
    const out: Uint8Array[] = []
    /** From here on, the chunk's bytes have neither been passed on nor taken out. */
    let from = 0
    let at = 0
    /** Where in this chunk the event at hand begins. */
    let eventFrom = 0
    let nextCr = -2
    let nextLf = -2
    while (at < end) {
      if (this.#afterCr) {
        this.#afterCr = false
        const isSameEnd = bytes[at] === lf
        if (isSameEnd) at++
        if (isSameEnd && this.#dropLf) from = at
        this.#dropLf = false
        if (isSameEnd) continue
      }
      if (nextCr !== -1 && nextCr < at) nextCr = bytes.indexOf(cr, at)
      if (nextLf !== -1 && nextLf < at) nextLf = bytes[at] === lf ? at : bytes.indexOf(lf, at)
      const lineEnd = nextCr >= 0 && (nextLf < 0 || nextCr < nextLf) ? nextCr : nextLf
      if (this.#event === 'none' && this.#isLineEmpty) {
        if (lineEnd === at || bytes[at] === colon) this.#passFinish(out)
        else {
          this.#event = 'candidate'
          eventFrom = at
        }
      }
      if (lineEnd !== at) this.#isLineEmpty = false
      if (lineEnd < 0) break
      this.#afterCr = lineEnd === nextCr
      at = lineEnd + 1
      if (!this.#isLineEmpty) this.#isLineEmpty = true
      else if (this.#closeEvent(bytes, eventFrom, at, out)) {
        if (eventFrom > from) out.push(bytes.subarray(from, eventFrom))
        from = at
        this.#dropLf = this.#afterCr
      }
    }
    let passed = end
    if (this.#event === 'candidate') {
      this.#held.append(bytes, eventFrom, end)
      passed = eventFrom
    }
    if (out.length === 0 && from === 0 && passed === end) return chunk
    if (passed > from) out.push(bytes.subarray(from, passed))
    const isHeld = this.#held.length > 0
    if (isHeld && (this.#held.length > this.#holdLimit || this.#isRuledOut(this.#heldText())))
      this.#letGo(out)
    return joined(out)
  }

  /** The stream is complete: what is held, unless it is such an event that only lacks its blank line. */
  finish(): Uint8Array | null {
    const out: Uint8Array[] = []
    if (this.#event === 'candidate' && this.#isTaken(this.#heldText(), out)) this.#held.release()
    this.#letGo(out)
    return joined(out)
  }

  /** What is held goes on, whatever it is. */
  release(): Uint8Array | null {
    const out: Uint8Array[] = []
    this.#letGo(out)
    return joined(out)
  }

  /** Between two events, and again at its end, without anything to look at: needs no walk. */
  #isOrdinary(bytes: Buffer): boolean {
    const isBetween = this.#event === 'none' && this.#isLineEmpty && !this.#afterCr && this.#finish === null
    if (!isBetween || !endsEvent(bytes) || holdsEmptyArray(bytes)) return false
    return !this.#restoresTimings || !bytes.includes(finishMember)
  }

  #isRuledOut(text: string): boolean {
    return this.#restoresTimings ? goesOn(text) : holdsChoice(text)
  }

  #heldText(): string {
    return this.#held.bytes.toString('latin1', 0, this.#held.length)
  }

  #letGo(out: Uint8Array[]): void {
    this.#passFinish(out)
    if (this.#event === 'candidate') this.#event = 'refuted'
    if (this.#held.length === 0) return
    out.push(Buffer.from(this.#held.bytes.subarray(0, this.#held.length)))
    this.#held.clear()
  }

  #passFinish(out: Uint8Array[]): void {
    if (this.#finish !== null) out.push(Buffer.from(this.#finish, 'latin1'))
    this.#finish = null
  }

  /** The event at hand is over, with the chunk's bytes `[start, end)`. Answers true where it does not go on as it came. */
  #closeEvent(bytes: Buffer, start: number, end: number, out: Uint8Array[]): boolean {
    const wasCandidate = this.#event === 'candidate'
    this.#event = 'none'
    if (!wasCandidate) return false
    const isTaken = this.#isTaken(this.#heldText() + bytes.toString('latin1', start, end), out)
    if (isTaken) this.#held.clear()
    else this.#letGo(out)
    return isTaken
  }

  /** Takes the whole event out of the stream, or holds it as {@link #finish}; or answers false. */
  #isTaken(text: string, out: Uint8Array[]): boolean {
    const data = this.#isRuledOut(text) ? null : readEventData(text)
    if (data === null) return false
    if (isUsageEvent(data)) {
      if (data['timings'] !== undefined) {
        const restored = this.#finish === null ? null : withTimings(this.#finish, text)
        if (restored === null) return false
        this.#finish = restored
      }
      this.#removedEvents++
      this.#passFinish(out)
      return true
    }
    if (!this.#restoresTimings || !lacksTimings(text, data)) return false
    this.#passFinish(out)
    this.#finish = text
    return true
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
