import { asBuffer, ByteGather } from '../lib/byte-gather.ts'
import type { JsonPlace } from './json-place.ts'
import { jsonOrUndefined } from './json-piece.ts'

/** What a {@link JsonPeek} finds. The bytes are only good during the call. */
export interface JsonPeekReceiver {
  /** A wanted value, as its JSON text: `"` begins a string, `{` an object, `n` null … */
  value(id: number, bytes: Buffer, start: number, end: number): void
  /** A wanted value that is longer than its place's limit; `firstByte` tells its kind. */
  tooLong(id: number, firstByte: number): void
  /** The end of a container that was entered and has an id of its own. */
  close?(id: number): void
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
/** Clearing this bit makes a brace of a bracket, and leaves no other byte that means one. */
const braceToBracket = 0xdf

/** A string is walked for this long before the native search, which costs about as much, is called. */
const nearBytes = 24
/** After as many bytes of numbers, as in an embedding, what follows is taken for more of them. */
const calmBytes = 64
/** The longest way to write one byte of a key: `\u0061`. */
const escapedByteLength = 6
const noBytes = Buffer.alloc(0)

const state = {
  value: 0,
  firstElement: 1,
  firstKey: 2,
  key: 3,
  keyText: 4,
  colon: 5,
  next: 6,
  string: 7,
  scalar: 8,
  skip: 9,
  skipString: 10,
  done: 11,
  notJson: 12,
} as const
type State = (typeof state)[keyof typeof state]

/**
 * Looks into a JSON text that comes in chunks, and reports the values at wanted places, each as the piece of
 * text that it is: nothing else is built, kept or copied, and depth is only a counter.
 *
 * It checks the structure of the containers that it enters, and in all others only strings and depth: what
 * it calls complete may be bad JSON inside a value that nobody wanted. Never throws.
 *
 * Every occurrence of a duplicate key is reported, in order: who keeps the newest has what `JSON.parse` has.
 * Keys that are written with escapes are known all the same.
 */
export class JsonPeek {
  readonly #root: JsonPlace
  readonly #receiver: JsonPeekReceiver
  #state: State = state.value
  /** Containers entered, outermost first; `#arrays` has a bit for each that is an array. */
  readonly #entered: JsonPlace[] = []
  #level = 0
  #arrays = 0
  /** The place of the value that comes next or is under way. */
  #target: JsonPlace | null
  /** Open containers inside the value that is skipped. */
  #depth = 0
  /** The last chunk ended on a backslash whose partner is still to come. */
  #escaping = false
  /** Bytes from `#pieceStart` on belong to a piece that is wanted: a key or a value. */
  #inPiece = false
  #pieceStart = 0
  /** Of a piece that is over. */
  #pieceEnd = 0
  #pieceLimit = 0
  #pieceTooLong = false
  #firstByte = 0
  /** What came of the piece in earlier chunks. */
  readonly #gather = new ByteGather()
  #pushed = 0
  /** During `value`, `tooLong`: at which byte of the text, over all chunks, the value begins. Set here alone. */
  valueOffset = 0

  constructor(root: JsonPlace, receiver: JsonPeekReceiver) {
    this.#root = root
    this.#target = root
    this.#receiver = receiver
  }

  /** Whether a whole text has been seen. */
  get complete(): boolean {
    return this.#state === state.done
  }

  /** Whether what has been seen cannot be JSON. Nothing more is reported then. */
  get notJson(): boolean {
    return this.#state === state.notJson
  }

  /** Makes it ready for another text. */
  reset(): void {
    this.#state = state.value
    this.#level = 0
    this.#arrays = 0
    this.#target = this.#root
    this.#escaping = false
    this.#inPiece = false
    this.#pushed = 0
    if (this.#gather.length > 0) this.#gather.clear()
  }

  /** The next bytes of the text: those of `chunk` from `start` to before `end`. */
  push(chunk: Uint8Array, start: number = 0, end: number = chunk.length): void {
    if (this.#state === state.notJson) return
    const bytes = asBuffer(chunk)
    this.#pieceStart = start
    this.#walk(bytes, start, end)
    if (this.#inPiece) this.#keep(bytes, end)
    this.#pushed += end - start
  }

  /** The text ends here: a number at the top level, which nothing else closes, is complete now. */
  end(): void {
    if (this.#state === state.scalar && this.#level === 0) {
      this.#pieceStart = 0
      this.#finishValue(noBytes, 0)
    }
  }

  #walk(bytes: Buffer, start: number, end: number): void {
    let i = start
    while (i < end) {
      switch (this.#state) {
        case state.skip:
          i = this.#skip(bytes, i, end)
          break
        case state.string:
        case state.skipString:
        case state.keyText: {
          const close = this.#stringEnd(bytes, i, end)
          if (close < 0) return
          i = close + 1
          if (this.#state === state.skipString) this.#state = state.skip
          else if (this.#state === state.keyText) this.#finishKey(bytes, close)
          else this.#finishValue(bytes, i)
          break
        }
        case state.scalar:
          while (i < end && !endsScalar(bytes[i] ?? 0)) i++
          if (i === end) return
          this.#finishValue(bytes, i)
          break
        case state.notJson:
          return
        default:
          while (i < end && isSpace(bytes[i] ?? 0)) i++
          if (i < end) this.#token(bytes[i] ?? 0, i, start)
          i++
      }
    }
  }

  /** One byte between values: begins, separates or closes something. */
  #token(byte: number, at: number, start: number): void {
    switch (this.#state) {
      case state.firstElement:
        if (byte === closeBracket) this.#leave()
        else this.#begin(byte, at, start)
        return
      case state.value:
        this.#begin(byte, at, start)
        return
      case state.firstKey:
      case state.key:
        if (byte === quote) {
          this.#state = state.keyText
          const longest = this.#entered[this.#level - 1]?.longestKey ?? 0
          this.#beginPiece(at + 1, longest * escapedByteLength)
        } else if (byte === closeBrace && this.#state === state.firstKey) this.#leave()
        else this.#state = state.notJson
        return
      case state.colon:
        this.#state = byte === colon ? state.value : state.notJson
        return
      case state.next: {
        const inArray = ((this.#arrays >>> (this.#level - 1)) & 1) === 1
        if (byte === (inArray ? closeBracket : closeBrace)) this.#leave()
        else if (byte !== comma) this.#state = state.notJson
        else if (!inArray) this.#state = state.key
        else {
          this.#state = state.value
          this.#target = this.#entered[this.#level - 1]?.element ?? null
        }
        return
      }
      default:
        this.#state = state.notJson
    }
  }

  #begin(byte: number, at: number, start: number): void {
    this.valueOffset = this.#pushed + at - start
    const target = this.#target
    const isArray = byte === openBracket
    if (isArray || byte === openBrace) {
      if (target !== null && (isArray ? target.element !== null : target.hasKeys)) {
        this.#enter(target, isArray)
        return
      }
      this.#depth = 1
      this.#state = state.skip
    } else if (byte === quote) this.#state = state.string
    else if (beginsScalar(byte) || (this.#root.isLenient && beginsNoNumber(byte))) this.#state = state.scalar
    else {
      this.#state = state.notJson
      return
    }
    if (target !== null && target.id >= 0) {
      this.#firstByte = byte
      this.#beginPiece(at, target.limit)
    }
  }

  #enter(place: JsonPlace, isArray: boolean): void {
    const bit = 1 << this.#level
    this.#arrays = isArray ? this.#arrays | bit : this.#arrays & ~bit
    this.#entered[this.#level++] = place
    this.#target = place.element
    this.#state = isArray ? state.firstElement : state.firstKey
  }

  #leave(): void {
    const place = this.#entered[--this.#level]
    this.#state = this.#level === 0 ? state.done : state.next
    if (place !== undefined && place.id >= 0) this.#receiver.close?.(place.id)
  }

  /** Walks over a container that is not entered; answers where the walk stopped. */
  #skip(bytes: Buffer, from: number, end: number): number {
    let i = from
    let calmFrom = from
    while (i < end) {
      const byte = bytes[i++] ?? 0
      const bracket = byte & braceToBracket
      if (byte === quote) {
        const close = this.#stringEnd(bytes, i, end)
        if (close < 0) {
          this.#state = state.skipString
          return end
        }
        i = close + 1
      } else if (bracket === openBracket) this.#depth++
      else if (bracket === closeBracket) {
        if (--this.#depth === 0) {
          this.#finishValue(bytes, i)
          return i
        }
      } else {
        if (i - calmFrom > calmBytes) i = calmFrom = nextMark(bytes, i, end)
        continue
      }
      calmFrom = i
    }
    return i
  }

  /** The closing quote at or after `from`, or -1 where it is not in these bytes. */
  #stringEnd(bytes: Buffer, from: number, end: number): number {
    let i = this.#escaping ? from + 1 : from
    this.#escaping = false
    for (;;) {
      const near = Math.min(i + nearBytes, end)
      while (i < near) {
        const byte = bytes[i]
        if (byte === quote) return i
        i += byte === backslash ? 2 : 1
      }
      if (i >= end) {
        this.#escaping = i > end
        return -1
      }
      const found = bytes.indexOf(quote, i)
      const stop = found < 0 || found > end ? end : found
      let run = stop
      while (run > i && bytes[run - 1] === backslash) run--
      const escaped = (stop - run) % 2 === 1
      if (stop === end) {
        this.#escaping = escaped
        return -1
      }
      if (!escaped) return stop
      i = stop + 1
    }
  }

  #beginPiece(at: number, limit: number): void {
    this.#inPiece = true
    this.#pieceTooLong = false
    this.#pieceStart = at
    this.#pieceLimit = limit
  }

  /** Keeps a copy of the part of the piece that ends with this chunk. */
  #keep(bytes: Buffer, end: number): void {
    const gather = this.#gather
    this.#pieceTooLong ||= gather.length + end - this.#pieceStart > this.#pieceLimit
    if (this.#pieceTooLong) gather.clear()
    else gather.append(bytes, this.#pieceStart, end)
  }

  /** The bytes that hold the piece which ends here, from `#pieceStart` to `#pieceEnd`; null if it is too long. */
  #takePiece(bytes: Buffer, end: number): Buffer | null {
    const gather = this.#gather
    this.#inPiece = false
    this.#pieceEnd = end
    if (gather.length === 0 && !this.#pieceTooLong)
      return end - this.#pieceStart > this.#pieceLimit ? null : bytes
    this.#keep(bytes, end)
    if (this.#pieceTooLong) return null
    this.#pieceStart = 0
    this.#pieceEnd = gather.length
    const whole = gather.bytes
    gather.clear()
    return whole
  }

  #finishKey(bytes: Buffer, close: number): void {
    this.#state = state.colon
    const piece = this.#takePiece(bytes, close)
    const place = this.#entered[this.#level - 1]
    this.#target =
      piece === null || place === undefined ? null : memberOf(place, piece, this.#pieceStart, this.#pieceEnd)
  }

  #finishValue(bytes: Buffer, end: number): void {
    this.#state = this.#level === 0 ? state.done : state.next
    if (!this.#inPiece) return
    const id = this.#target?.id ?? -1
    const piece = this.#takePiece(bytes, end)
    if (piece === null) this.#receiver.tooLong(id, this.#firstByte)
    else this.#receiver.value(id, piece, this.#pieceStart, this.#pieceEnd)
  }
}

/** The next byte that begins a string, or begins or ends a container; `end` where there is none. */
function nextMark(bytes: Buffer, from: number, end: number): number {
  let next = end
  for (const mark of [closeBracket, quote, openBracket, openBrace, closeBrace]) {
    const at = bytes.indexOf(mark, from)
    if (at >= 0 && at < next) next = at
  }
  return next
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function beginsScalar(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x6e || byte === 0x74 || byte === 0x66
}

/** `NaN`, `Infinity`. */
function beginsNoNumber(byte: number): boolean {
  return byte === 0x4e || byte === 0x49
}

function endsScalar(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)
}

function memberOf(place: JsonPlace, bytes: Buffer, start: number, end: number): JsonPlace | null {
  const found = place.member(bytes, start, end)
  if (found !== null) return found
  if (!place.mayBeMember(bytes, start, end)) return null
  const text = jsonOrUndefined(`"${bytes.toString('utf8', start, end)}"`)
  return typeof text === 'string' ? place.memberNamed(text) : null
}
