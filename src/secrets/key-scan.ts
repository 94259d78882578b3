import { announcedSecret, mayAnnounce, type SecretRange } from './announced-secret.ts'
import { escapeLength, keyByForm, keyEnd } from './key-forms.ts'
import { beginsKey, byteClass, byteClasses, mayBeginKey } from './key-prefixes.ts'

const backslash = 0x5c
const space = 0x20
const hyphen = 0x2d
const dot = 0x2e
const slash = 0x2f
const plus = 0x2b
const colon = 0x3a
const equals = 0x3d
const tilde = 0x7e
const capitalN = 0x4e
/** Shortest run that is looked at: `-u`, `key`, `sig`. */
const shortestRun = 2
/** Shortest run that a prefix is looked for in. */
const shortestKey = 8
/** Letters alone are looked at from here on. */
const longWord = 16
const notWord = byteClass.digit | byteClass.sign
/** Within a longer run, which is random characters itself, a short prefix comes by chance. */
const longRun = 256
const chanceFreePrefix = 6
/** Base64 of 12 bytes: where these are text, all of it is decoded. */
const base64Start = 16
const notBase64 = 64
/** The six bits that a character of base64 stands for, in either alphabet. */
const sextets = new Uint8Array(256).fill(notBase64)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
for (const [bits, character] of Object.entries(`${alphabet}+/`))
  sextets[character.charCodeAt(0)] = Number(bits)
for (const [bits, character] of Object.entries(`${alphabet}-_`))
  sextets[character.charCodeAt(0)] = Number(bits)

/**
 * Finds what looks like a credential in UTF-8 text: start and end of each in turn; null where there is none. Text in
 * base64 that holds one is one. Walks the bytes once, and looks at a bounded number of others at each place: its time
 * is linear in any text. `isCut`: more text followed, so that what stands at the end may be the beginning of a credential.
 */
export function findKeys(bytes: Buffer, isCut: boolean): readonly number[] | null {
  return findKeysIn(bytes, isCut, true)
}

function findKeysIn(bytes: Buffer, isCut: boolean, decodes: boolean): readonly number[] | null {
  let found: number[] | null = null
  const end = bytes.length
  let at = 0
  while (at < end) {
    let kind = 0
    while (at < end && (kind = byteClasses[bytes[at] ?? 0] ?? 0) === 0) at++
    const start = at
    let seen = 0
    while (kind !== 0) {
      seen |= kind
      at++
      kind = at < end ? (byteClasses[bytes[at] ?? 0] ?? 0) : 0
    }
    const inBase64 = decodes ? keyInBase64(bytes, start, at, isCut) : null
    if (
      inBase64 === null &&
      (at - start < shortestRun || (at < end && isPlainWord(bytes, start, at, seen)))
    ) {
      continue
    }
    const range = inBase64 ?? keyInRun(bytes, start, at, seen, isCut)
    if (range === null) continue
    found ??= []
    found.push(Math.max(range.start, found.at(-1) ?? 0), range.end)
    at = Math.max(at, range.end)
  }
  return found
}

/** Whether a run is a word that is no key and announces none: most are. Only saves time. */
function isPlainWord(bytes: Uint8Array, start: number, end: number, seen: number): boolean {
  const length = end - start
  if (length >= shortestKey && (length >= longWord || (seen & notWord) !== 0)) return false
  if (mayAnnounce(bytes, end)) return false
  const next = bytes[end]
  // Names of schemes and of webhooks, tokens in parts, and what `keyByForm` looks for before a space.
  if (next === colon) return bytes[end + 1] !== slash && bytes[end + 1] !== backslash
  if (next === slash) return length !== 8
  if (next === tilde) return false
  if (next === dot) return length < 10
  return (
    next !== space ||
    !(length === 5 || length === 2 || bytes[end - 1] === capitalN || bytes[start] === hyphen)
  )
}

/** The whole of a base64 text (RFC 4648 §4 and §5) that begins with this run and holds a credential. */
function keyInBase64(bytes: Buffer, start: number, end: number, isCut: boolean): SecretRange | null {
  const next = bytes[end]
  if (end - start < base64Start && next !== slash && next !== plus) return null
  if (bytes[start - 1] === slash || bytes[start - 1] === plus) return null
  const from = Math.min(start + escapeLength(bytes, start), end)
  if (!beginsText(bytes, from)) return null
  let last = from + base64Start
  while ((sextets[bytes[last] ?? 0] ?? 0) < notBase64) last++
  const decoded = Buffer.from(bytes.toString('latin1', from, last), 'base64')
  if (findKeysIn(decoded, isCut && last === bytes.length, false) === null) return null
  while (bytes[last] === equals) last++
  return { start: from, end: last }
}

/** Whether base64 begins here that stands for ASCII text: chance makes it so of one in a hundred thousand. */
function beginsText(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + base64Start; at += 4) {
    const first = sextets[bytes[at] ?? 0] ?? 0
    const second = sextets[bytes[at + 1] ?? 0] ?? 0
    const third = sextets[bytes[at + 2] ?? 0] ?? 0
    const fourth = sextets[bytes[at + 3] ?? 0] ?? 0
    if ((first | second | third | fourth) >= notBase64) return false
    const three = (first << 18) | (second << 12) | (third << 6) | fourth
    if (!isAscii(three >> 16) || !isAscii((three >> 8) & 255) || !isAscii(three & 255)) return false
  }
  return true
}

function isAscii(byte: number): boolean {
  return (byte >= space && byte < 0x7f) || byte === 0x0a || byte === 0x0d
}

function keyInRun(
  bytes: Buffer,
  start: number,
  end: number,
  seen: number,
  isCut: boolean,
): SecretRange | null {
  const cut = isCut && end === bytes.length
  const from = Math.min(start + escapeLength(bytes, start), end)
  const mayBeKey = (seen & notWord) !== 0 || end - start >= longWord
  const key =
    cut || (mayBeKey && end - start >= shortestKey) ? prefixedKey(bytes, start, from, end, seen, cut) : null
  const form =
    keyByForm(bytes, from, end, seen, isCut) ?? formAfterBackslash(bytes, start, from, end, seen, isCut)
  if (key === null) return form ?? announcedSecret(bytes, start, end, isCut)
  return form === null ? key : { start: Math.min(key.start, form.start), end: Math.max(key.end, form.end) }
}

/** What follows a backslash may be no escape's letter, but the key's own first one, which stays. */
function formAfterBackslash(
  bytes: Buffer,
  start: number,
  from: number,
  end: number,
  seen: number,
  isCut: boolean,
): SecretRange | null {
  if (from === start) return null
  const form = keyByForm(bytes, start, end, seen, isCut)
  return form === null ? null : { start: Math.max(form.start, start + 1), end: form.end }
}

function prefixedKey(
  bytes: Buffer,
  start: number,
  afterEscape: number,
  end: number,
  seen: number,
  cut: boolean,
): SecretRange | null {
  if (mayBeginKey(bytes, afterEscape) && beginsKey(bytes, afterEscape, end, cut, 0)) {
    return { start: afterEscape, end: keyEnd(bytes, afterEscape, end) }
  }
  // The escape's letter may be the key's own where the text is no JSON: what follows it is masked all the same.
  if (afterEscape > start && beginsKey(bytes, start, end, cut, 0)) {
    return { start: start + 1, end: keyEnd(bytes, start, end) }
  }
  if ((seen & byteClass.sign) === 0) return null
  const least = end - start > longRun ? chanceFreePrefix : 0
  for (let at = afterEscape; at < end - 1; at++) {
    if (byteClasses[bytes[at] ?? 0] !== byteClass.sign || !mayBeginKey(bytes, at + 1)) continue
    if (beginsKey(bytes, at + 1, end, cut, least)) return { start: at + 1, end: keyEnd(bytes, at + 1, end) }
  }
  return null
}
