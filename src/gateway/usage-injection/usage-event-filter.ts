import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { isObject, readMessage } from '../../lib/message-shape.ts'

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const quote = 0x22
const finishMember = '"finish_reason":"'
/** The end of the name, as a search that begins with a quote stops at every name and text. */
const finishName = Buffer.from('finish_reason"')
/** Bytes kept of a chunk that ends within an event, for a finish reason that ends in the next chunk. */
const longestFinish = 40
const noBytes = Buffer.alloc(0)
/** Bytes of one event that are held at most; a longer one is passed on. */
const defaultHoldLimit = 65_536

/**
 * Removes the usage-only events from a `text/event-stream` (WHATWG HTML §9.2.6), and leaves every other byte as
 * and where it is, for any chunks. Holds back only the begin of an event that may still be one of those:
 * in the ordinary case a chunk goes through as the very object that came.
 *
 * Comments before an event are not part of it; everything between its first field and its blank line is.
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
  /** True if the last byte was removed, with the event that it closed. */
  #dropLf = false
  /** True once a choice has finished: later events add only the usage. */
  #hasFinished = false
  /** The end of the last chunk, if it ended within an event. */
  #tail: Buffer = noBytes
  /** Events that were taken out. */
  removedEvents = 0

  /**
   * `restoresTimings`: the upstream is llama.cpp, which moves the `timings` of a choice's last event to the usage event
   * that follows: that last event is held until the next one has come, and gets its timings back.
   */
  constructor(restoresTimings = false, holdLimit: number = defaultHoldLimit) {
    this.#restoresTimings = restoresTimings
    this.#holdLimit = holdLimit
  }

  /** The bytes to pass on now; null for none. Kept bytes of the chunk are copies. */
  push(chunk: Uint8Array): Uint8Array | null {
    const bytes = asBuffer(chunk)
    if (!this.#hasFinished) this.#lookForFinish(bytes)
    if (this.#isOrdinary(bytes)) return chunk
    const out: Uint8Array[] = []
    /** From here on, the chunk's bytes have neither been passed on nor taken out. */
    let from = 0
    /** The offset in this chunk at which the event at hand begins. */
    let eventFrom = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      const isSameEnd = this.#afterCr && byte === lf
      this.#afterCr = byte === cr
      if (isSameEnd) {
        if (this.#dropLf) from = at + 1
        continue
      }
      const isLineEnd = byte === lf || byte === cr
      if (this.#event === 'none' && this.#isLineEmpty) {
        if (isLineEnd || byte === colon) this.#passFinish(out)
        else {
          this.#event = 'candidate'
          eventFrom = at
        }
      }
      const isTaken = isLineEnd && this.#isLineEmpty && this.#closeEvent(bytes, eventFrom, at + 1, out)
      if (isTaken) {
        if (eventFrom > from) out.push(bytes.subarray(from, eventFrom))
        from = at + 1
      }
      this.#dropLf = isTaken
      this.#isLineEmpty = isLineEnd
      if (!isLineEnd) at = lineEnd(bytes, at + 1) - 1
    }
    const passed = this.#event === 'candidate' ? eventFrom : bytes.length
    if (passed < bytes.length) this.#held.append(bytes, passed, bytes.length)
    if (out.length === 0 && from === 0 && passed === bytes.length) return chunk
    if (passed > from) out.push(bytes.subarray(from, passed))
    const { length } = this.#held
    if (length > this.#holdLimit || (length > 0 && this.#isRuledOut(this.#heldText()))) this.#letGo(out)
    return joined(out)
  }

  /**
   * Ends the stream. Held bytes are passed on, unless they are a usage event of a complete stream that only lacks its
   * blank line.
   */
  end(isComplete: boolean): Uint8Array | null {
    const out: Uint8Array[] = []
    if (isComplete && this.#event === 'candidate' && this.#isTaken(this.#heldText(), out))
      this.#held.release()
    this.#letGo(out)
    return joined(out)
  }

  /** True for a chunk of whole events without a candidate, which needs no scan. */
  #isOrdinary(bytes: Buffer): boolean {
    const isBetween = this.#event === 'none' && this.#isLineEmpty && !this.#afterCr && this.#finish === null
    if (!isBetween || this.#hasFinished || !endsEvent(bytes) || holdsEmptyArray(bytes)) return false
    return !this.#restoresTimings || !bytes.includes(finishMember)
  }

  #lookForFinish(bytes: Buffer): void {
    const seam =
      this.#tail.length === 0 ? null : Buffer.concat([this.#tail, bytes.subarray(0, longestFinish)])
    this.#hasFinished = hasFinish(bytes) || (seam !== null && hasFinish(seam))
    if (endsEvent(bytes)) this.#tail = noBytes
    else {
      const last = bytes.length < longestFinish ? Buffer.concat([this.#tail, bytes]) : bytes
      this.#tail = Buffer.from(last.subarray(-longestFinish))
    }
  }

  #isRuledOut(text: string): boolean {
    if (this.#restoresTimings) return goesOn(text)
    return !this.#hasFinished && holdsChoice(text)
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

  /** Ends the current event with the chunk's bytes `[start, end)`. True if it is not passed on unchanged. */
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
    if (isUsageEvent(data, this.#hasFinished)) {
      if (data['timings'] !== undefined) {
        const restored = this.#finish === null ? null : withTimings(this.#finish, text)
        if (restored === null) return false
        this.#finish = restored
      }
      this.removedEvents++
      this.#passFinish(out)
      return true
    }
    if (!this.#restoresTimings || !lacksTimings(text, data)) return false
    this.#passFinish(out)
    this.#finish = text
    return true
  }
}

/** True if the bytes end with a blank line, so that an event begins next. */
function endsEvent(bytes: Buffer): boolean {
  const { length } = bytes
  if (length < 2 || bytes[length - 1] !== lf) return false
  if (bytes[length - 2] === lf) return true
  return length > 3 && bytes[length - 2] === cr && bytes[length - 3] === lf && bytes[length - 4] === cr
}

/** The end of the line that continues at `at`: its CR or LF, or the end of the bytes. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== lf && bytes[at] !== cr) at++
  return at
}

/** True if there is an array without elements; a usage event's `choices` is one. */
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

/** An event's data, where it is an object. All texts here are Latin-1: one character a byte. */
type EventData = Readonly<Record<string, unknown>>

/** True if the bytes contain a choice's finish reason. */
function hasFinish(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(finishName); at >= 0; at = bytes.indexOf(finishName, at + 1)) {
    if (bytes[at - 1] !== quote) continue
    let value = at + finishName.length
    while (value < bytes.length && ((bytes[value] ?? 0) <= 0x20 || bytes[value] === colon)) value++
    if (bytes[value] === quote && value + 1 < bytes.length && bytes[value + 1] !== quote) return true
  }
  return false
}

/** The keys of a usage event in the APIs that have one; `timings` are put back. */
const usageKeys: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'timings',
])
const someChoices = /"choices"\s*:\s*(?:\[\s*[^\s\]]|[^\s[])/
const unfinishedChoice = /"finish_reason"\s*:\s*null/
const timingsBegin = ',"timings":{'
const finishEnd = '}\n\n'

/** True if the begin of an event has a choice, so that it is not the usage event. */
function holdsChoice(text: string): boolean {
  return someChoices.test(text)
}

/** Says of an event, as far as it has come, that it is not the last of a choice either. */
function goesOn(text: string): boolean {
  return unfinishedChoice.test(text)
}

/**
 * Reads the data of a complete event. `null` if it is no JSON object, or if the event has a field that no usage event
 * has, such as a `retry` or an upstream's own field.
 */
function readEventData(text: string): EventData | null {
  const data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [name = ''] = line.split(':', 1)
    if (name === 'data') data.push(line.slice(5))
    else if (name !== '' && name !== 'event' && name !== 'id') return null
  }
  return readMessage(data.join('\n'), isObject)
}

/**
 * True if an event only came because the gateway asked for it: a usage without choices, and only keys that are known to
 * come with it; or, once a choice has finished, a usage without a choice that adds anything, with any other keys.
 */
function isUsageEvent(data: EventData, hasFinished: boolean): boolean {
  const { choices = null, usage } = data
  if (!isObject(usage)) return false
  const hasNone = Array.isArray(choices) && choices.length === 0
  if (hasNone && Object.keys(data).every((key) => usageKeys.has(key))) return true
  if (!hasFinished || isOpenRouters(data)) return false
  return choices === null || (Array.isArray(choices) && choices.every(addsNothing))
}

/** OpenRouter sends its usage unasked, so that its clients expect it (openrouter.ai/docs, Usage Accounting). */
function isOpenRouters({ id, provider }: EventData): boolean {
  return typeof id === 'string' && id.startsWith('gen-') && provider !== undefined
}

/** A choice without a reason to finish, whose delta is empty but for a role. */
function addsNothing(choice: unknown): boolean {
  if (!isObject(choice)) return false
  const { delta = null, text = null, finish_reason: reason = null } = choice
  const isEmpty = (value: unknown): boolean =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
  const added = isObject(delta) ? Object.entries(delta) : []
  return isEmpty(reason) && isEmpty(text) && added.every(([name, value]) => name === 'role' || isEmpty(value))
}

/** The last event of a choice in llama.cpp's form, without the timings that a stream not asked for usage has there. */
function lacksTimings(text: string, { choices, usage, timings }: EventData): boolean {
  const isLast = Array.isArray(choices) && choices.length > 0 && usage === undefined && timings === undefined
  return (
    isLast && text.startsWith('data: {') && text.indexOf('\n') === text.length - 2 && text.endsWith(finishEnd)
  )
}

/** A choice's last event with the timings of its usage event, byte for byte as if usage had not been asked for; or `null`. */
function withTimings(finish: string, usageEvent: string): string | null {
  const begin = usageEvent.lastIndexOf(timingsBegin)
  if (begin < 0 || !usageEvent.endsWith(finishEnd)) return null
  const member = usageEvent.slice(begin, -finishEnd.length)
  // The timings must be the last member, whole: then the rest is an object without them.
  const rest = readEventData(usageEvent.slice(0, begin) + finishEnd)
  const moved = readEventData(`data: {${member.slice(1)}${finishEnd}`)
  if (rest === null || moved === null || Object.keys(moved).length !== 1) return null
  return finish.slice(0, -finishEnd.length) + member + finishEnd
}
