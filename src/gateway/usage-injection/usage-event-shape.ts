import { ByteGather } from '../../lib/byte-gather.ts'
import { compilePlaces } from '../../lib/json-place.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const step = {
  start: 0,
  firstKey: 1,
  key: 2,
  keyText: 3,
  colon: 4,
  value: 5,
  choices: 6,
  string: 7,
  nested: 8,
  nestedString: 9,
  scalar: 10,
  next: 11,
  done: 12,
} as const
type Step = (typeof step)[keyof typeof step]

const slot = { plain: 0, choices: 1, usage: 2 } as const
const plainKeys = ['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier', 'obfuscation']

/** All that an event which was only sent because the gateway asked for it may hold. */
const allowed = compilePlaces([
  { path: 'choices', slot: slot.choices, limit: 0 },
  { path: 'usage', slot: slot.usage, limit: 0 },
  ...plainKeys.map((path) => ({ path, slot: slot.plain, limit: 0 })),
])

/**
 * Tells, as its bytes come, whether a JSON text can still be the event that an upstream sends for
 * `include_usage`: an object with `choices: []`, an object called `usage`, and nothing that is not known to
 * stand beside them. What it calls `yes` may be bad JSON inside `usage`.
 *
 * Sees every byte of a stream up to the first that rules an event out: hence the loops within the loop.
 */
export class UsageEventShape {
  #verdict: 'open' | 'no' | 'yes' = 'open'
  #step: Step = step.start
  /** The begin of a key whose end is still to come. */
  readonly #key = new ByteGather()
  #slot = -1
  #hasChoices = false
  #hasUsage = false
  /** Open containers inside a value. */
  #depth = 0
  #escaped = false

  /** `open`: it can still become either; `yes` is final only at the text's end. */
  get verdict(): 'open' | 'no' | 'yes' {
    return this.#verdict
  }

  reset(): void {
    this.#verdict = 'open'
    this.#step = step.start
    this.#hasChoices = false
    this.#hasUsage = false
    this.#escaped = false
    this.#key.clear()
  }

  /** Whatever this text is, it is not that event. */
  refute(): void {
    this.#verdict = 'no'
  }

  push(bytes: Buffer, start: number, end: number): void {
    let i = start
    while (i < end && this.#verdict !== 'no') {
      switch (this.#step) {
        case step.string:
        case step.nestedString:
          i = this.#string(bytes, i, end)
          break
        case step.keyText:
          i = this.#keyText(bytes, i, end)
          break
        case step.nested:
          this.#nested(bytes[i++] ?? 0)
          break
        case step.scalar:
          i = this.#scalar(bytes, i, end)
          break
        default: {
          const byte = bytes[i++] ?? 0
          if (byte > 0x20) this.#token(byte)
          else if (!isSpace(byte)) this.refute()
        }
      }
    }
  }

  /** Each of these answers where the walk goes on. */
  #string(bytes: Buffer, from: number, end: number): number {
    let i = from
    let escaped = this.#escaped
    while (i < end) {
      const byte = bytes[i++] ?? 0
      if (escaped) escaped = false
      else if (byte === quote) {
        this.#step = this.#step === step.string ? step.next : step.nested
        break
      } else if (byte === backslash) escaped = true
      else if (byte < 0x20) {
        this.refute()
        break
      }
    }
    this.#escaped = escaped
    return i
  }

  #keyText(bytes: Buffer, from: number, end: number): number {
    let i = from
    while (i < end && bytes[i] !== quote && i - from <= allowed.longestKey) i++
    const isOver = i < end && bytes[i] === quote
    if (this.#key.length + i - from > allowed.longestKey) this.refute()
    else if (!isOver) this.#key.append(bytes, from, i)
    else {
      this.#slot = this.#slotOf(bytes, from, i)
      if (this.#slot < 0) this.refute()
      else this.#step = step.colon
      i++
    }
    return i
  }

  #slotOf(bytes: Buffer, from: number, end: number): number {
    const key = this.#key
    if (key.length === 0) return allowed.member(bytes, from, end)?.slot ?? -1
    key.append(bytes, from, end)
    const place = allowed.member(key.bytes, 0, key.length)
    key.clear()
    return place?.slot ?? -1
  }

  #nested(byte: number): void {
    if (byte === quote) this.#step = step.nestedString
    else if (byte === openBrace || byte === openBracket) this.#depth++
    else if ((byte === closeBrace || byte === closeBracket) && --this.#depth === 0) this.#step = step.next
  }

  #scalar(bytes: Buffer, from: number, end: number): number {
    let i = from
    while (i < end && isOfScalar(bytes[i] ?? 0)) i++
    if (i < end) this.#step = step.next
    return i
  }

  /** One byte outside of keys and values that is no white space. */
  #token(byte: number): void {
    switch (this.#step) {
      case step.start:
        if (byte === openBrace) this.#step = step.firstKey
        else this.refute()
        return
      case step.firstKey:
      case step.key:
        if (byte === quote) this.#step = step.keyText
        else this.refute()
        return
      case step.colon:
        if (byte === colon) this.#step = step.value
        else this.refute()
        return
      case step.value:
        this.#begin(byte)
        return
      case step.choices:
        if (byte === closeBracket) {
          this.#hasChoices = true
          this.#step = step.next
        } else this.refute()
        return
      case step.next:
        if (byte === comma) this.#step = step.key
        else if (byte === closeBrace && this.#hasChoices && this.#hasUsage) {
          this.#step = step.done
          this.#verdict = 'yes'
        } else this.refute()
        return
      default:
        this.refute()
    }
  }

  #begin(byte: number): void {
    if (this.#slot === slot.choices) {
      if (byte === openBracket) this.#step = step.choices
      else this.refute()
      return
    }
    if (this.#slot === slot.usage) {
      if (byte !== openBrace) {
        this.refute()
        return
      }
      this.#hasUsage = true
    }
    if (byte === quote) this.#step = step.string
    else if (byte === openBrace || byte === openBracket) {
      this.#depth = 1
      this.#step = step.nested
    } else if (isOfScalar(byte)) this.#step = step.scalar
    else this.refute()
  }
}

/** Numbers, `true`, `false`, `null`; whether it is really one of them is not looked at. */
function isOfScalar(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || isSign(byte)
}

function isSign(byte: number): boolean {
  return byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x45
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
