import { asBuffer } from '../lib/byte-gather.ts'

/** In place of a value that is longer than allowed. */
export const tooLong: number = Infinity

/**
 * The wanted places of a text, nested as the text is: a number is the most bytes of a value. In an object, the name `[]`
 * stands for the elements of an array, and the empty name for the value itself, where it is neither array nor object.
 */
export type JsonShape = number | { readonly [name: string]: JsonShape }

/** A shape made ready for scans, which share it. */
export interface WantedPlace {
  /** Names joined by dots, with `[]` for the elements of an array. */
  readonly path: string
  /** The most bytes of a value; -1 where only places within it are wanted. */
  readonly limit: number
  readonly element: WantedPlace | null
  /** By their names as JSON. */
  readonly members: ReadonlyMap<string, WantedPlace> | null
  /** Names count in any case, as in Go. */
  readonly isLenient: boolean
}

/** Gets the text of each wanted value, null if it is too long, with its offsets in bytes of the whole text. */
export type OnValue = (
  path: string,
  text: string | null,
  start: number,
  end: number,
  isScalar: boolean,
) => void

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
/** Without this bit, a brace is a bracket. */
const braceBit = 0x20
/** A string is walked for so many bytes before the native search, which costs as much, is called. */
const nearBytes = 24
/** After as many bytes of numbers, as in an embedding, the scan expects more of them. */
const calmBytes = 64
/** A name that is longer, with its escapes, is not wanted. */
const longestName = 256
/** A native call makes text of so many bytes at once, as many short ones cost more. */
const textBytes = 256
/** Most bytes of the wanted values together, with the structure around them. */
const mostSkeletonBytes = 1024 * 1024

/**
 * Reads the wanted values of a JSON text that comes in chunks and may be endless. Of all else the scan keeps only the
 * structure around wanted places, so that `JSON.parse` decides whether it is JSON. Never throws.
 *
 * All texts within are Latin-1: one character a byte.
 */
export class JsonScan {
  readonly #onValue: OnValue | null
  /** The text with 0 in place of all unwanted values, and how far this chunk is copied to it. */
  #skeleton = ''
  #skeletonTo = 0
  /** A part of this chunk as text, and where it begins. */
  #text = ''
  #textFrom = 0
  /** The open containers on the way to wanted places. */
  readonly #entered: { readonly place: WantedPlace; readonly isArray: boolean }[] = []
  /** The place of the value that comes next, or is under way; null where it is not wanted. */
  #place: WantedPlace | null
  /** The next leaf is a member's name. */
  #isName = false
  /** A leaf is under way: a name, or a value that is not entered. */
  #inLeaf = false
  #depth = 0
  #inString = false
  /** The last chunk ended on a backslash whose partner is still to come. */
  #isEscaping = false
  /** The most bytes of the leaf; -1 where it is not wanted. */
  #limit = -1
  /** The beginning of the leaf: in this chunk, in the whole text, and its bytes in earlier chunks. */
  #start = 0
  #offset = 0
  #earlier = ''
  #isScalar = false
  /** Bytes of earlier chunks. */
  #pushed = 0

  constructor(root: WantedPlace, onValue: OnValue | null = null) {
    this.#place = root
    this.#onValue = onValue
  }

  /** The text with its wanted values alone; `undefined` if it is no JSON, or too much is wanted of it. */
  get value(): unknown {
    return this.#isTooMuch ? undefined : jsonOrUndefined(fromLatin1(this.#skeleton))
  }

  /** True while a string, an array or an object is not closed. */
  get isOpen(): boolean {
    return !this.#isTooMuch && (this.#entered.length > 0 || this.#depth > 0 || this.#inString)
  }

  push(chunk: Uint8Array): void {
    if (this.#isTooMuch) return
    const bytes = asBuffer(chunk)
    this.#start = this.#skeletonTo = 0
    this.#text = ''
    let at = 0
    while (at < bytes.length) {
      at = this.#inLeaf ? this.#leaf(bytes, at) : this.#token(bytes[at] ?? 0, at)
    }
    this.#copyUpTo(bytes, this.#inLeaf ? this.#start : bytes.length)
    if (this.#inLeaf)
      this.#earlier += this.#textOf(bytes, this.#start, Math.min(bytes.length, this.#start + this.#room))
    this.#pushed += bytes.length
  }

  get #isTooMuch(): boolean {
    return this.#skeleton.length > mostSkeletonBytes
  }

  /** How many bytes of the leaf are still kept; one more than the limit says that it is too long. */
  get #room(): number {
    return this.#limit + 1 - this.#earlier.length
  }

  /** Reads a byte between leaves; returns the index at which to continue. */
  #token(byte: number, at: number): number {
    if (isSpace(byte)) return at + 1
    const place = this.#place
    const isArray = byte === openBracket
    const inner = isArray ? place?.element : byte === openBrace ? place?.members : null
    if (place !== null && inner) {
      this.#entered.push({ place, isArray })
      this.#next()
    } else if (byte === closeBracket || byte === closeBrace) this.#entered.pop()
    else if (byte === comma) this.#next()
    else if (byte !== colon) {
      this.#inLeaf = true
      this.#limit = this.#isName ? longestName : (place?.limit ?? -1)
      this.#start = at
      this.#offset = this.#pushed + at
      this.#isScalar = byte !== quote && (byte & ~braceBit) !== openBracket
      return at
    }
    return at + 1
  }

  /** A name or an element comes next. */
  #next(): void {
    const level = this.#entered.at(-1)
    this.#isName = level?.isArray === false
    this.#place = level?.isArray === true ? level.place.element : null
  }

  /** Walks over a leaf; answers where the walk ended. */
  #leaf(bytes: Buffer, from: number): number {
    let at = this.#inString ? this.#pastString(bytes, from) : from
    let depth = this.#depth
    if (at > from && depth === 0 && !this.#inString) return this.#endLeaf(bytes, at)
    let calmFrom = at
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0
      const bracket = byte & ~braceBit
      if (byte === quote) {
        at = this.#pastString(bytes, at)
        if (this.#inString) break
      } else if (bracket === openBracket) depth++
      else if (bracket === closeBracket && depth > 0) depth--
      else if (depth > 0) {
        if (at - calmFrom > calmBytes) at = calmFrom = nextMark(bytes, at)
        continue
      } else if (bracket === closeBracket || byte === comma || isSpace(byte))
        return this.#endLeaf(bytes, at - 1)
      else continue
      if (depth === 0) return this.#endLeaf(bytes, at)
      calmFrom = at
    }
    this.#depth = depth
    return at
  }

  #endLeaf(bytes: Buffer, end: number): number {
    const isInOneChunk = this.#earlier === ''
    let leaf: string | null = null
    if (this.#limit >= 0) {
      leaf = this.#earlier + this.#textOf(bytes, this.#start, Math.min(end, this.#start + this.#room))
      if (leaf.length > this.#limit) leaf = null
    }
    if (leaf === null || !isInOneChunk) {
      this.#copyUpTo(bytes, this.#start)
      this.#skeleton += leaf ?? (this.#isName ? '""' : this.#limit < 0 ? '0' : '1e999')
      this.#skeletonTo = end
    }
    this.#inLeaf = false
    this.#depth = 0
    this.#earlier = ''
    if (this.#isName) {
      this.#isName = false
      this.#place = leaf === null ? null : memberOf(this.#entered.at(-1)?.place, leaf)
    } else if (this.#limit >= 0 && this.#onValue !== null) {
      const value = leaf === null || this.#isScalar ? leaf : fromLatin1(leaf)
      this.#onValue(this.#place?.path ?? '', value, this.#offset, this.#pushed + end, this.#isScalar)
    }
    return end
  }

  #copyUpTo(bytes: Buffer, end: number): void {
    if (end > this.#skeletonTo) this.#skeleton += this.#textOf(bytes, this.#skeletonTo, end)
    this.#skeletonTo = end
  }

  #textOf(bytes: Buffer, from: number, end: number): string {
    const at = from - this.#textFrom
    if (at >= 0 && end <= this.#textFrom + this.#text.length) return this.#text.slice(at, at + end - from)
    this.#text = bytes.toString('latin1', from, Math.max(end, from + textBytes))
    this.#textFrom = from
    return this.#text.slice(0, end - from)
  }

  /** Behind the quote that closes the string; the end of the text where that is not in it. */
  #pastString(bytes: Buffer, from: number): number {
    let at = this.#isEscaping ? from + 1 : from
    this.#isEscaping = false
    this.#inString = true
    for (;;) {
      const near = Math.min(at + nearBytes, bytes.length)
      while (at < near) {
        const byte = bytes[at++]
        if (byte === backslash) at++
        else if (byte === quote) {
          this.#inString = false
          return at
        }
      }
      if (at >= bytes.length) {
        this.#isEscaping = at > bytes.length
        return bytes.length
      }
      const found = bytes.indexOf(quote, at)
      const stop = found < 0 ? bytes.length : found
      let run = stop
      while (run > at && bytes[run - 1] === backslash) run--
      // A quote behind an odd number of backslashes does not close.
      at = (stop - run) % 2 === 1 ? stop + 1 : stop
    }
  }
}

/** Makes a shape ready for {@link JsonScan}. */
export function wantedPlaces(shape: JsonShape, isLenient = false, path = ''): WantedPlace {
  if (typeof shape === 'number') return { path, limit: shape, element: null, members: null, isLenient }
  const { '': own = -1, '[]': element, ...members } = shape
  const entries = Object.entries(members).map(([name, inner]) => {
    const place = wantedPlaces(inner, isLenient, path === '' ? name : `${path}.${name}`)
    return [JSON.stringify(isLenient ? folded(name) : name), place] as const
  })
  return {
    path,
    limit: Number(own),
    element: element === undefined ? null : wantedPlaces(element, isLenient, `${path}[]`),
    members: entries.length === 0 ? null : new Map(entries),
    isLenient,
  }
}

function memberOf(place: WantedPlace | undefined, leaf: string): WantedPlace | null {
  const members = place?.members
  if (!members) return null
  const same = members.get(leaf)
  if (same !== undefined || /^"[a-z_]*"$/.test(leaf)) return same ?? null
  const name = String(jsonOrUndefined(fromLatin1(leaf)))
  return members.get(JSON.stringify(place.isLenient ? folded(name) : name)) ?? null
}

/** Both ways, as U+017F is an `s` only in upper case, and U+212A a `k` only in lower case. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** The next byte that begins a string, or opens or closes a container; the end where there is none. */
function nextMark(bytes: Buffer, from: number): number {
  let next = bytes.length
  for (const mark of [closeBracket, quote, openBracket, openBrace, closeBrace]) {
    const at = bytes.indexOf(mark, from)
    if (at >= 0 && at < next) next = at
  }
  return next
}

/** Decodes latin1 bytes as UTF-8. */
function fromLatin1(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The parsed text, or `undefined` where it is no JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
