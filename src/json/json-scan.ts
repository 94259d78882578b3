import { asBuffer } from '../lib/byte-gather.ts'

/** Replaces a value that is longer than allowed. */
export const tooLong: number = Infinity

/**
 * The wanted places of a JSON text, nested like the text. A number is the most bytes of a value. The name
 * `[]` stands for the elements of an array. The empty name stands for the value itself if it is neither array
 * nor object.
 */
export type JsonShape = number | { readonly [name: string]: JsonShape }

/** A shape in the form that scans use. Scans may share it. */
export interface WantedPlace {
  /** Names joined by dots, with `[]` for the elements of an array. */
  readonly path: string
  /** Most bytes of the value; -1 if only places within it are wanted. */
  readonly limit: number
  readonly element: WantedPlace | null
  /** Wanted members, by their names as JSON text; null without any. */
  readonly members: ReadonlyMap<string, WantedPlace> | null
  /** True if the case of names is ignored, as in Go. */
  readonly isLenient: boolean
}

/** Called with the text of each wanted value (null if it is too long) and its byte offsets in the whole text. */
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
/** The first bytes of a string are walked, because a native search costs as much as so many bytes. */
const nearBytes = 24
/** After this many bytes of numbers, as in an embedding, the scan expects more of them. */
const calmBytes = 64
/** Most bytes of a wanted name, with its escapes. */
const longestName = 256
/** Bytes that a native call converts to text at once, because many short calls cost more. */
const textBytes = 256
/** Most bytes of the wanted values together, with the structure around them. */
const mostSkeletonBytes = 1024 * 1024

/**
 * Reads the wanted values of a JSON text that comes in chunks and may be endless. Apart from these, the scan
 * keeps only the structure around wanted places, so that `JSON.parse` decides whether the text is JSON. Never
 * throws. All texts within are Latin-1, with one character for each byte.
 */
export class JsonScan {
  readonly #onValue: OnValue | null
  /** The text, in which 0 replaces each unwanted value, and how far the present chunk was copied to it. */
  #skeleton = ''
  #skeletonTo = 0
  /** A part of this chunk as text, and where it begins. */
  #text = ''
  #textFrom = 0
  /** The open containers on the way to wanted places. */
  readonly #entered: { readonly place: WantedPlace; readonly isArray: boolean }[] = []
  /** The place of the current or next value; null if it is not wanted. */
  #place: WantedPlace | null
  /** True if the next leaf is a member's name. */
  #isName = false
  /** True within a leaf: a name, or a value that is not entered. */
  #isInLeaf = false
  #depth = 0
  #isInString = false
  /** True if the last chunk ended with a backslash that escapes the next byte. */
  #isEscaping = false
  /** Most bytes of the leaf; -1 if it is not wanted. */
  #limit = -1
  /** The leaf's offset in this chunk, its offset in the whole text, and its bytes in earlier chunks. */
  #start = 0
  #offset = 0
  #earlier = ''
  #isScalar = false
  /** Number of bytes in earlier chunks. */
  #pushed = 0

  constructor(root: WantedPlace, onValue: OnValue | null = null) {
    this.#place = root
    this.#onValue = onValue
  }

  /**
   * The parsed text with only its wanted values; `undefined` if it is no JSON, or if the wanted values are
   * too long together.
   */
  get value(): unknown {
    return this.#isTooMuch ? undefined : jsonOrUndefined(fromLatin1(this.#skeleton))
  }

  /** True while a string, an array or an object is not closed. */
  get isOpen(): boolean {
    return !this.#isTooMuch && (this.#entered.length > 0 || this.#depth > 0 || this.#isInString)
  }

  push(chunk: Uint8Array): void {
    if (this.#isTooMuch) return
    const bytes = asBuffer(chunk)
    this.#start = this.#skeletonTo = 0
    this.#text = ''
    let at = 0
    while (at < bytes.length) {
      at = this.#isInLeaf ? this.#leaf(bytes, at) : this.#token(bytes[at] ?? 0, at)
    }
    this.#copyUpTo(bytes, this.#isInLeaf ? this.#start : bytes.length)
    if (this.#isInLeaf)
      this.#earlier += this.#textOf(bytes, this.#start, Math.min(bytes.length, this.#start + this.#room))
    this.#pushed += bytes.length
  }

  get #isTooMuch(): boolean {
    return this.#skeleton.length > mostSkeletonBytes
  }

  /** How many more bytes of the leaf are kept. A single byte over the limit shows that the leaf is too long. */
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
      this.#isInLeaf = true
      this.#limit = this.#isName ? longestName : (place?.limit ?? -1)
      this.#start = at
      this.#offset = this.#pushed + at
      this.#isScalar = byte !== quote && (byte & ~braceBit) !== openBracket
      return at
    }
    return at + 1
  }

  /** Prepares for the next name or element. */
  #next(): void {
    const level = this.#entered.at(-1)
    this.#isName = level?.isArray === false
    this.#place = level?.isArray === true ? level.place.element : null
  }

  /** Walks over a leaf; returns the index at which to continue. */
  #leaf(bytes: Buffer, from: number): number {
    let at = this.#isInString ? this.#pastString(bytes, from) : from
    let depth = this.#depth
    if (at > from && depth === 0 && !this.#isInString) return this.#endLeaf(bytes, at)
    let calmFrom = at
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0
      const bracket = byte & ~braceBit
      if (byte === quote) {
        at = this.#pastString(bytes, at)
        if (this.#isInString) break
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
    this.#isInLeaf = false
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

  /** The index after a string's closing quote; the end of the bytes if they do not have it. */
  #pastString(bytes: Buffer, from: number): number {
    let at = this.#isEscaping ? from + 1 : from
    this.#isEscaping = false
    this.#isInString = true
    for (;;) {
      const near = Math.min(at + nearBytes, bytes.length)
      while (at < near) {
        const byte = bytes[at++]
        if (byte === backslash) at++
        else if (byte === quote) {
          this.#isInString = false
          return at
        }
      }
      if (at >= bytes.length) {
        this.#isEscaping = at > bytes.length
        return bytes.length
      }
      const quoteAt = bytes.indexOf(quote, at)
      const stop = quoteAt < 0 ? bytes.length : quoteAt
      let run = stop
      while (run > at && bytes[run - 1] === backslash) run--
      // A quote after an odd number of backslashes does not close the string.
      at = (stop - run) % 2 === 1 ? stop + 1 : stop
    }
  }
}

/** Converts a shape for {@link JsonScan}. */
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

/**
 * The name without case. Both conversions are needed: U+017F becomes an `s` only through upper case, and
 * U+212A a `k` only through lower case.
 */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** The next byte that begins a string, or opens or closes a container; the end of the bytes without one. */
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

/** The parsed text; `undefined` if it is no JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
