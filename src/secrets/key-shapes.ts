import { byBeginning, byEnding, inParts, type KeyPattern } from './key-table.ts'

/** The text that replaces a credential. */
export const secretMark = '[secret]'
const markBytes = Buffer.from(secretMark)

/** The beginning of a JSON escape that may hide a letter. */
const jsonEscape = Buffer.from('\\u00')
const hidden = /(?<!\\)\\+u00([2-7][\da-f])|%([2-7][\da-f])/gi
const percent = 0x25
const dot = 0x2e
const backslash = 0x5c
const letterU = 0x75

/** Classes of the characters of a run, as bits. Bytes of UTF-8 sequences have none. */
const [letter, digit, joint] = [1, 2, 4]
const classes = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if (/[a-z]/i.test(character)) return letter
  if (/\d/.test(character)) return digit
  return /[-_*]/.test(character) ? joint : 0
})

/** The shortest run that is examined: `-u`, `key`, `SG`. */
const shortestRun = 2
/** The shortest run that may have a prefix, and the shortest of letters alone. */
const [shortestKey, longWord] = [8, 16]
/** The shortest first part of a key that has parts. */
const shortestPart = 23
/** In a longer run than `longRun`, which may be random data, prefixes shorter than `chanceFreePrefix` occur by chance. */
const [longRun, chanceFreePrefix] = [256, 6]
/** The longest beginning of a credential that is looked for at the end of a cut text. */
const longestCut = 4096
/** Most places in a run where a pattern may begin, such as after emphasis or parts of a name. */
const mostStarts = 16

const none: readonly KeyPattern[] = []
/** Patterns by a number that is computed from the text at their place. */
class PatternIndex {
  readonly #patterns = new Map<number, readonly KeyPattern[]>()
  /** 1 for numbers with a pattern. The table saves most look-ups. */
  readonly has: Uint8Array

  constructor(size: number, patterns: readonly KeyPattern[], keysOf: (pattern: KeyPattern) => number[]) {
    for (const pattern of patterns)
      for (const key of new Set(keysOf(pattern)))
        this.#patterns.set(key, [...(this.#patterns.get(key) ?? []), pattern])
    this.has = Uint8Array.from({ length: size }, (_, key) => (this.#patterns.has(key) ? 1 : 0))
  }

  at(key: number): readonly KeyPattern[] {
    return this.has[key] === 1 ? (this.#patterns.get(key) ?? none) : none
  }
}

const byFirstTwo = new PatternIndex(2 ** 16, byBeginning, ({ anchors }) =>
  anchors.map((anchor) => Buffer.from(anchor).readUInt16BE()),
)
const byLastLetters = new PatternIndex(2 ** 15, byEnding, ({ anchors }) =>
  anchors.map((anchor) => lastLetters(Buffer.from(anchor), anchor.length)),
)
const bySign = new PatternIndex(2 ** 8, byEnding, ({ anchors, next }) =>
  anchors.length === 0 ? [next.charCodeAt(0)] : [],
)

/** The last three letters as a number, five bits each. */
function lastLetters(bytes: Uint8Array, end: number): number {
  return (
    (((bytes[end - 3] ?? 0) & 31) << 10) | (((bytes[end - 2] ?? 0) & 31) << 5) | ((bytes[end - 1] ?? 0) & 31)
  )
}

/**
 * Masks credentials in any text: JSON, URLs, messages, command lines. A credential has the form of a main
 * provider's keys, or follows a word that announces it (`api_key=…`, `Bearer …`, the user of a URL, a private
 * key …). Escapes are recognised (`sk\u002d…`, `%2d`). `isCut`: the end of the text is missing, so the
 * beginning of a credential at its end is masked, too.
 */
export function maskKeys(text: string, isCut = false): string {
  const bytes = Buffer.from(text)
  const masked = maskKeyBytes(bytes, isCut)
  return masked === bytes ? text : masked.toString()
}

/** {@link maskKeys} for bytes with UTF-8 text in them. Returns the same buffer if it has no credential. */
export function maskKeyBytes(bytes: Buffer, isCut = false): Buffer {
  if (bytes.includes(jsonEscape) || bytes.includes(percent)) {
    // Decoded as Latin-1, which keeps every byte.
    const shown = Buffer.from(bytes.toString('latin1').replace(hidden, shownCharacter), 'latin1')
    const spans = shown.length === bytes.length ? [] : new KeySearch(shown, isCut).find()
    if (spans.length > 0) return withMarks(shown, spans)
  }
  const spans = new KeySearch(bytes, isCut).find()
  return spans.length === 0 ? bytes : withMarks(bytes, spans)
}

/** The character of an escape; the escape itself if the character would end or change a JSON string. */
function shownCharacter(escape: string, json: string | undefined, percent: string | undefined): string {
  const character = String.fromCharCode(Number.parseInt(json ?? percent ?? '', 16))
  return /[\w .~:/?#@!$&'()*+,;=<>{}[\]|^`-]/.test(character) ? character : escape
}

function withMarks(bytes: Buffer, spans: readonly Span[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end } of spans) {
    parts.push(bytes.subarray(from, start), markBytes)
    from = end
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Finds credentials in UTF-8 text, in one pass over its runs of letters, digits, `-`, `_` and `*`. */
class KeySearch {
  readonly #bytes: Buffer
  /** The text with one character for each byte. */
  readonly #text: string
  readonly #isCut: boolean
  readonly #spans: Span[] = []

  constructor(bytes: Buffer, isCut: boolean) {
    this.#bytes = bytes
    this.#text = bytes.toString('latin1')
    this.#isCut = isCut
  }

  /**
   * The credentials in order. For each place only a bounded number of other characters is read, so the time
   * is linear for every text.
   */
  find(): readonly Span[] {
    const bytes = this.#bytes
    const { length } = bytes
    let at = 0
    while (at < length) {
      let kind = 0
      while (at < length && (kind = classes[bytes[at] ?? 0] ?? 0) === 0) at++
      const start = at
      let kinds = 0
      while (kind !== 0) {
        kinds |= kind
        at++
        kind = at < length ? (classes[bytes[at] ?? 0] ?? 0) : 0
      }
      const end = at
      const size = end - start
      if (size < shortestRun) continue
      const isPart = bytes[end] === dot || (this.#isCut && end === length)
      if (isPart || size >= longWord || (size >= shortestKey && kinds !== letter))
        at = this.#add(this.#inRun(start, end, (kinds & joint) !== 0, isPart), at)
      const letters = lastLetters(bytes, end)
      if (byLastLetters.has[letters] === 1) at = this.#add(this.#first(byLastLetters.at(letters), end), at)
      const sign = bytes[end] ?? 0
      if (bySign.has[sign] === 1) at = this.#add(this.#first(bySign.at(sign), end), at)
    }
    return this.#spans
  }

  /** Adds a span, and joins spans that touch. Returns the offset at which to continue. */
  #add(span: Span | null, at: number): number {
    if (span === null) return at
    const last = this.#spans.at(-1)
    if (last === undefined || span.start > last.end) this.#spans.push(span)
    else {
      this.#spans.pop()
      this.#spans.push({ start: Math.min(last.start, span.start), end: Math.max(last.end, span.end) })
    }
    return Math.max(at, span.end)
  }

  /** The first credential that begins with the run, or after a joint in it. */
  #inRun(start: number, end: number, hasJoints: boolean, isPart: boolean): Span | null {
    const from = Math.min(start + this.#escapeLength(start), end)
    let starts = 0
    for (let at = from; at < end; at++) {
      if (at > from && classes[this.#bytes[at - 1] ?? 0] !== joint) {
        if (!hasJoints) break
        continue
      }
      const shortest = at > start && end - start > longRun ? chanceFreePrefix : 0
      const patterns = this.#beginningAt(at)
      const span =
        (patterns === none ? null : this.#first(patterns, at, shortest)) ??
        (isPart && end - at >= shortestPart && starts < mostStarts ? this.#first(inParts, at) : null)
      if (span !== null) return span
      if (patterns.length > 0 && ++starts > mostStarts) break
    }
    // The letter after a backslash may belong to the escape or to the key, so it stays.
    const withLetter = from > start ? this.#first(this.#beginningAt(start), start) : null
    return withLetter === null ? null : { start: start + 1, end: withLetter.end }
  }

  #beginningAt(at: number): readonly KeyPattern[] {
    return byFirstTwo.at(((this.#bytes[at] ?? 0) << 8) | (this.#bytes[at + 1] ?? 0))
  }

  /** The number of an escape's letters (`\n`, `\u000a`, `%20`) at the beginning of a run. */
  #escapeLength(start: number): number {
    const before = this.#bytes[start - 1]
    if (before === percent) return 2
    if (before !== backslash) return 0
    return this.#bytes[start] === letterU ? 5 : 1
  }

  /** The credential that the first of the patterns finds at this place. */
  #first(patterns: readonly KeyPattern[], at: number, shortestPrefix = 0): Span | null {
    for (const pattern of patterns) {
      const span = this.#match(pattern, at, shortestPrefix)
      if (span !== null) return span
    }
    return null
  }

  #match({ next, full, cut, isKey, rest }: KeyPattern, at: number, shortestPrefix: number): Span | null {
    const text = this.#text
    if (next !== '' && !next.includes(text.charAt(at))) return null
    let match = matchAt(full, text, at)
    if (match !== null) {
      const { key, tested } = match.groups ?? {}
      const end = at + match[0].length
      const isChance = tested !== undefined && match[0].length - tested.length < shortestPrefix
      if (isChance || !isKey(tested ?? key ?? match[0], text.charAt(end))) match = null
    }
    if (this.#isCut && cut !== null && text.length - at < longestCut) match ??= matchAt(cut, text, at)
    if (match === null) return null
    const { key, before = '' } = match.groups ?? {}
    const end = at + match[0].length
    const start = key === undefined ? at - before.length : end - key.length
    const more = rest === null ? '' : (matchAt(rest, text, end)?.[0] ?? '')
    return start === end ? null : { start, end: end + more.length }
  }
}

/** The match of a sticky pattern at an offset. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
