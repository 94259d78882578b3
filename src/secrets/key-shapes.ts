import { announcedSecret, mayAnnounce } from './announced-secret.ts'
import { keyInRun, leastBeforeDot, longWord, shortestKey } from './key-forms.ts'
import { byteClasses, letter, type Source } from './key-prefixes.ts'

/** The text that replaces a credential. */
export const secretMark = '[secret]'
const markBytes = Buffer.from(secretMark)

/** The beginning of an escape that may hide a letter. */
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
/** The shortest run that is examined: `-u`, `key`, `sig`. */
const shortestRun = 2
const percent = 0x25
const hidden = /(?<!\\)\\+u00([2-7][\da-f])|%([2-7][\da-f])/gi

/**
 * Masks credentials in any text: JSON, URLs, messages, command lines. A credential has the form of one of the main providers, or
 * a word announces it (`api_key=…`, `Bearer …`, the user of a URL, a private key …), also with escapes (`sk\u002d…`, `%2d`).
 * `isCut`: the end of the text is missing, so the beginning of a credential there counts, too.
 */
export function maskKeys(text: string, isCut = false): string {
  const bytes = Buffer.from(text)
  const masked = maskKeyBytes(bytes, isCut)
  return masked === bytes ? text : masked.toString()
}

/** {@link maskKeys} for bytes with UTF-8 text in them. Returns the same buffer if it has no credential. */
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

/** The character of an escape, unless it would end or change a JSON string. */
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
 * Finds credentials in UTF-8 text: start and end of each in turn; null without any. One pass, with a bounded number of other
 * characters at each place, so the time is linear for every text. `isCut`: the text's end may be the beginning of a credential.
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

/** True if a run is an ordinary word, neither a key nor an announcement. Only saves time. */
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
