import { announcedSecret, mayAnnounce, type SecretRange } from './announced-secret.ts'
import { keyByForm, keyEnd } from './key-forms.ts'
import { beginsKey, byteClass, byteClasses, mayBeginKey } from './key-prefixes.ts'

const backslash = 0x5c
const percent = 0x25
const space = 0x20
const hyphen = 0x2d
const dot = 0x2e
const slash = 0x2f
const colon = 0x3a
const capitalN = 0x4e
const letterU = 0x75
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

/**
 * Finds what looks like a credential in UTF-8 text: start and end of each in turn; null where there is none.
 * Walks the bytes once, and looks at a bounded number of others at each place: its time is linear in any text.
 * `isCut`: more text followed, so that what stands at the end may be the beginning of a credential.
 */
export function findKeys(bytes: Buffer, isCut: boolean): readonly number[] | null {
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
    if (at - start < shortestRun || (at < end && isPlainWord(bytes, start, at, seen))) continue
    const range = keyInRun(bytes, start, at, seen, isCut)
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
  if (next === dot) return length < 10
  return (
    next !== space ||
    !(length === 5 || length === 2 || bytes[end - 1] === capitalN || bytes[start] === hyphen)
  )
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

/** Where text is written with escapes, letters of one (`\n`, `\u000a`, `%20`) stand before the run's true start. */
function escapeLength(bytes: Uint8Array, start: number): number {
  const before = bytes[start - 1]
  if (before === percent) return 2
  if (before !== backslash) return 0
  return bytes[start] === letterU ? 5 : 1
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
