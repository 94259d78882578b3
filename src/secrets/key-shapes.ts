import { announcedSecret, mayAnnounce } from './announced-secret.ts'
import { keyInRun, leastBeforeDot, longWord, shortestKey } from './key-forms.ts'
import { byteClasses, letter, type Source } from './key-prefixes.ts'

/** The text that replaces a credential. */
export const secretMark = '[secret]'
const markBytes = Buffer.from(secretMark)

/** Begin of an escape that may hide a letter. */
const jsonEscape = Buffer.from('\\u00')
const space = 0x20
const hyphen = 0x2d
const dot = 0x2e
const slash = 0x2f
const colon = 0x3a
const capitalN = 0x4e
const backslash = 0x5c
const letterB = 0x62
/** The bit that makes an ASCII letter lower-case. */
const lowerCase = 0x20
const tilde = 0x7e
/** Shortest run that is looked at: `-u`, `key`, `sig`. */
const shortestRun = 2
const percent = 0x25
const hidden = /(?<!\\)\\+u00([2-7][\da-f])|%([2-7][\da-f])/gi

/**
 * Masks what looks like a credential of one of the main providers, or is announced as one (`api_key=…`,
 * `Bearer …`, the user of a URL, a private key …), in any text: JSON, URLs, messages, command lines. What is
 * written with escapes (`sk\u002d…`, `%2d`) is known all the same. `isCut`: the text's end is missing, so that
 * the beginning of a credential there counts, too.
 */
export function maskKeys(text: string, isCut = false): string {
  const bytes = Buffer.from(text)
  const masked = maskKeyBytes(bytes, isCut)
  return masked === bytes ? text : masked.toString()
}

/** {@link maskKeys} of UTF-8 bytes, or of bytes that hold such text in between; the same bytes if there is nothing. */
export function maskKeyBytes(bytes: Buffer, isCut = false): Buffer {
  if (bytes.includes(jsonEscape) || bytes.includes(percent)) {
    // Latin-1, as any byte survives it.
    const shown = Buffer.from(bytes.toString('latin1').replace(hidden, shownCharacter), 'latin1')
    const found = shown.length === bytes.length ? null : findKeys(shown, isCut)
    if (found !== null) return withMarks(shown, found)
  }
  const found = findKeys(bytes, isCut)
  return found === null ? bytes : withMarks(bytes, found)
}

/** The character behind an escape, but where it would end or change a string of JSON. */
function shownCharacter(escape: string, json: string | undefined, percent: string | undefined): string {
  const character = String.fromCharCode(Number.parseInt(json ?? percent ?? '', 16))
  return /[\w .~:/?#@!$&'()*+,;=<>{}[\]|^`-]/.test(character) ? character : escape
}

function withMarks(bytes: Buffer, found: readonly number[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let i = 0; i < found.length; i += 2) {
    parts.push(bytes.subarray(from, found[i]), markBytes)
    from = found[i + 1] ?? bytes.length
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

/**
 * Finds what looks like a credential in UTF-8 text: start and end of each in turn; null if there is none. Walks the
 * text once, and looks at a bounded number of other characters at each place: its time is linear in any text. `isCut`: more
 * text followed, so that what stands at the end may be the beginning of a credential.
 */
function findKeys(bytes: Buffer, isCut: boolean): readonly number[] | null {
  // Latin-1, as any byte survives it.
  const source: Source = { bytes, text: bytes.toString('latin1'), isCut }
  let found: number[] | null = null
  const { length } = bytes
  let at = 0
  while (at < length) {
    let kind = 0
    while (at < length && (kind = byteClasses[bytes[at] ?? 0] ?? 0) === 0) at++
    const start = at
    let seen = 0
    while (kind !== 0) {
      seen |= kind
      at++
      kind = at < length ? (byteClasses[bytes[at] ?? 0] ?? 0) : 0
    }
    if (at - start < shortestRun || (at < length && isPlainWord(bytes, start, at, seen))) continue
    const range = keyInRun(source, start, at, seen) ?? announcedSecret(source, start, at)
    if (range === null) continue
    found ??= []
    found.push(Math.max(range.start, found.at(-1) ?? 0), range.end)
    at = Math.max(at, range.end)
  }
  return found
}

/** True if a run is a word that is no key and announces none: most are. Only saves time. */
function isPlainWord(bytes: Uint8Array, start: number, end: number, seen: number): boolean {
  const length = end - start
  if (length >= longWord || (length >= shortestKey && (seen & ~letter) !== 0)) return false
  if (mayAnnounce(bytes, end)) return false
  const next = bytes[end]
  // Names of schemes and of webhooks, tokens in parts, and what `keyInRun` looks for before a space.
  if (next === colon) return bytes[end + 1] !== slash && bytes[end + 1] !== backslash
  if (next === slash) return length !== 'services'.length
  if (next === tilde) return false
  if (next === dot) return length < leastBeforeDot
  if (next !== space) return true
  const first = bytes[start] ?? 0
  const isBasic = length === 'basic'.length && (first | lowerCase) === letterB
  return !isBasic && first !== hyphen && bytes[end - 1] !== capitalN
}
