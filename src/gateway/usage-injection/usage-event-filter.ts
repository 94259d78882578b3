import { asBuffer, ByteGather, noBytes } from '../../lib/byte-gather.ts'
import { type Fields, isObject, readMessage } from '../../lib/message-shape.ts'

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const quote = 0x22
const finishMember = '"finish_reason":"'
/** The name without its opening quote, because a search that begins with a quote would stop at every name and text. */
const finishName = Buffer.from('finish_reason"')
/** Bytes kept of a chunk that ends within an event, for a finish reason that ends in the next chunk. */
const longestFinish = 40
/** Most bytes of an event that are held; a longer event is passed on. */
const defaultHoldLimit = 65_536

/**
 * Removes usage-only events from a `text/event-stream` (WHATWG HTML §9.2.6), for any chunks, and leaves every
 * other byte unchanged. Only the beginning of an event that may be such a one is held back; usually a chunk
 * passes as the same object. Comments before an event do not belong to it; everything from its first field to
 * its blank line does.
 */
export class UsageEventFilter {
  readonly #holdLimit: number
  readonly #restoresTimings: boolean
  /** The unfinished event of earlier chunks, as long as it is a candidate. */
  readonly #unfinished = new ByteGather()
  /** The complete last event of a choice, held because its timings may come with the next event; null without one. */
  #finish: string | null = null
  /** The current event: none, a candidate for removal, or known not to be one. */
  #event: 'none' | 'candidate' | 'refuted' = 'none'
  #isLineEmpty = true
  /** True if the last byte was a CR, so that an LF belongs to the same line end. */
  #isAfterCr = false
  /** True if the last byte was removed, with the event that it closed. */
  #dropsLf = false
  /** True once a choice has finished: later events add only the usage. */
  #hasFinished = false
  /** The end of the last chunk, if it ended within an event. */
  #tail: Buffer = noBytes
  /** Number of removed events. */
  removedEvents = 0

  /**
   * `restoresTimings`: the upstream is llama.cpp, which moves the `timings` of a choice's last event to the
   * following usage event. The last event is held until the next one has come, and gets its timings back.
   */
  constructor(restoresTimings = false, holdLimit: number = defaultHoldLimit) {
    this.#restoresTimings = restoresTimings
    this.#holdLimit = holdLimit
  }

  /** Returns the bytes to pass on now; null for none. Held bytes are copies. */
  push(chunk: Uint8Array): Uint8Array | null {
    const bytes = asBuffer(chunk)
    if (!this.#hasFinished) this.#lookForFinish(bytes)
    if (this.#isOrdinary(bytes)) return chunk
    const out: Uint8Array[] = []
    /** The first byte of the chunk that was neither passed on nor removed. */
    let from = 0
    /** The offset in this chunk at which the current event begins. */
    let eventFrom = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      const isSameEnd = this.#isAfterCr && byte === lf
      this.#isAfterCr = byte === cr
      if (isSameEnd) {
        if (this.#dropsLf) from = at + 1
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
      this.#dropsLf = isTaken
      this.#isLineEmpty = isLineEnd
      if (!isLineEnd) at = lineEnd(bytes, at + 1) - 1
    }
    const passed = this.#event === 'candidate' ? eventFrom : bytes.length
    if (passed < bytes.length) this.#unfinished.append(bytes, passed, bytes.length)
    if (out.length === 0 && from === 0 && passed === bytes.length) return chunk
    if (passed > from) out.push(bytes.subarray(from, passed))
    const { length } = this.#unfinished
    if (length > this.#holdLimit || (length > 0 && this.#isRuledOut(this.#heldText()))) this.#letGo(out)
    return joined(out)
  }

  /**
   * Ends the stream, and returns held bytes; null for none. A held usage event without its blank line is
   * dropped if the stream is complete.
   */
  end(isComplete: boolean): Uint8Array | null {
    const out: Uint8Array[] = []
    if (isComplete && this.#event === 'candidate' && this.#isTaken(this.#heldText(), out))
      this.#unfinished.release()
    this.#letGo(out)
    return joined(out)
  }

  /** True for a chunk of whole events without a candidate, which needs no scan. */
  #isOrdinary(bytes: Buffer): boolean {
    const isBetween = this.#event === 'none' && this.#isLineEmpty && !this.#isAfterCr && this.#finish === null
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
    return this.#unfinished.bytes.toString('latin1', 0, this.#unfinished.length)
  }

  #letGo(out: Uint8Array[]): void {
    this.#passFinish(out)
    if (this.#event === 'candidate') this.#event = 'refuted'
    if (this.#unfinished.length === 0) return
    out.push(Buffer.from(this.#unfinished.bytes.subarray(0, this.#unfinished.length)))
    this.#unfinished.clear()
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
    if (isTaken) this.#unfinished.clear()
    else this.#letGo(out)
    return isTaken
  }

  /** Removes a complete event, or keeps it as {@link #finish}. Returns false if the event passes. */
  #isTaken(text: string, out: Uint8Array[]): boolean {
    const data = this.#isRuledOut(text) ? null : readEventData(text)
    if (data === null || reportsError.test(text)) return false
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

/** The end of a line: the offset of its CR or LF, or the end of the bytes. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== lf && bytes[at] !== cr) at++
  return at
}

/** True if the bytes have an empty array, as the `choices` of a usage event are. */
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

/** The keys of a usage event in APIs that have one. `timings` are moved to the event before. */
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
/** Any of the places of an error: a member or a field of this name, a type, a finish reason. */
const reportsError = /\berror\b(?!"\s*:\s*null\b)/
const unfinishedChoice = /"finish_reason"\s*:\s*null/
const timingsBegin = ',"timings":{'
const finishEnd = '}\n\n'

/** True if the beginning of an event has a choice, so that it is no usage event. */
function holdsChoice(text: string): boolean {
  return someChoices.test(text)
}

/** True if the beginning of an event shows that it is not a choice's last event. */
function goesOn(text: string): boolean {
  return unfinishedChoice.test(text)
}

/**
 * The data of a complete event, in Latin-1 as all texts here. `null` if the data is no JSON object, or if the event
 * has another field, such as `retry` or a field of the upstream's own.
 */
function readEventData(text: string): Fields | null {
  const data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [name = ''] = line.split(':', 1)
    if (name === 'data') data.push(line.slice(5))
    else if (name !== '' && name !== 'event' && name !== 'id') return null
  }
  return readMessage(data.join('\n'), isObject)
}

/**
 * True if an event came only because the gateway asked for usage. Such an event has a usage, no choices, and
 * only known keys; or, once a choice has finished, a usage, no choice that adds anything, and any other keys.
 */
function isUsageEvent(data: Fields, hasFinished: boolean): boolean {
  const { choices = null, usage } = data
  if (!isObject(usage)) return false
  const hasNone = Array.isArray(choices) && choices.length === 0
  if (hasNone && Object.keys(data).every((key) => usageKeys.has(key))) return true
  if (!hasFinished || isOpenRouters(data)) return false
  return choices === null || (Array.isArray(choices) && choices.every(addsNothing))
}

/**
 * True for OpenRouter, whose clients expect the usage event, because it comes unasked (openrouter.ai/docs,
 * Usage Accounting).
 */
function isOpenRouters({ id, provider }: Fields): boolean {
  return typeof id === 'string' && id.startsWith('gen-') && provider !== undefined
}

/** True for a choice without a finish reason whose delta has at most a role. */
function addsNothing(choice: unknown): boolean {
  if (!isObject(choice)) return false
  const { delta = null, text = null, finish_reason: reason = null } = choice
  const isEmpty = (value: unknown): boolean =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
  const pairs = isObject(delta) ? Object.entries(delta) : []
  return isEmpty(reason) && isEmpty(text) && pairs.every(([name, value]) => name === 'role' || isEmpty(value))
}

/** True for a choice's last event of llama.cpp without `timings`, which it would have in a stream without usage. */
function lacksTimings(text: string, { choices, usage, timings }: Fields): boolean {
  const isLast = Array.isArray(choices) && choices.length > 0 && usage === undefined && timings === undefined
  return (
    isLast && text.startsWith('data: {') && text.indexOf('\n') === text.length - 2 && text.endsWith(finishEnd)
  )
}

/**
 * A choice's last event with the timings of the usage event, byte for byte as in a stream without usage;
 * `null` without timings.
 */
function withTimings(finish: string, usageEvent: string): string | null {
  const begin = usageEvent.lastIndexOf(timingsBegin)
  if (begin < 0 || !usageEvent.endsWith(finishEnd)) return null
  const member = usageEvent.slice(begin, -finishEnd.length)
  // The timings must be the complete last member, so that the rest is an object.
  const rest = readEventData(usageEvent.slice(0, begin) + finishEnd)
  const moved = readEventData(`data: {${member.slice(1)}${finishEnd}`)
  if (rest === null || moved === null || Object.keys(moved).length !== 1) return null
  return finish.slice(0, -finishEnd.length) + member + finishEnd
}
