import { announcedSecret, mayAnnounce } from './announced-secret.ts'
import { escapeLength, keyByForm, keyEnd, matchAt, type Run, type SecretRange } from './key-forms.ts'
import { beginsKey, byteClass, byteClasses, type Source } from './key-prefixes.ts'

const space = 0x20
const plus = 0x2b
const hyphen = 0x2d
const dot = 0x2e
const slash = 0x2f
const colon = 0x3a
const capitalN = 0x4e
const backslash = 0x5c
const tilde = 0x7e
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
/** Base64 (RFC 4648 §4 and §5) that begins with 12 bytes below 128, and so may stand for text: all of it is decoded. */
const base64Text = /(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][\w+/-]){4}[\w+/-]*=*/y
const beginsAsText = /^[\x20-\x7e\r\n]{12}/
const base64Start = 16

/**
 * Finds what looks like a credential in UTF-8 text: start and end of each in turn; null if there is none. Text in base64 that holds one is one, unless nothing `decodes` it. Walks the text once, and looks at a bounded number of other
 * characters at each place: its time is linear in any text. `isCut`: more text followed, so that what stands at the end
 * may be the beginning of a credential.
 */
export function findKeys(bytes: Buffer, isCut: boolean, decodes = true): readonly number[] | null {
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
    const inBase64 = decodes ? keyInBase64(source, start, at) : null
    if (
      inBase64 === null &&
      (at - start < shortestRun || (at < length && isPlainWord(bytes, start, at, seen)))
    ) {
      continue
    }
    const range = inBase64 ?? keyInRun(source, start, at, seen)
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
  if (next === slash) return length !== 'services'.length
  if (next === tilde) return false
  if (next === dot) return length < 10
  return (
    next !== space ||
    !(length === 5 || length === 2 || bytes[end - 1] === capitalN || bytes[start] === hyphen)
  )
}

/** The whole of a base64 text that begins with this run and holds a credential. */
function keyInBase64({ bytes, text, isCut }: Source, start: number, end: number): SecretRange | null {
  const next = bytes[end]
  if (end - start < base64Start && next !== slash && next !== plus) return null
  if (bytes[start - 1] === slash || bytes[start - 1] === plus) return null
  const from = Math.min(start + escapeLength(bytes, start), end)
  const [coded] = matchAt(base64Text, text, from) ?? []
  if (coded === undefined) return null
  const decoded = Buffer.from(coded, 'base64')
  const isOpen = isCut && from + coded.length === text.length
  if (!beginsAsText.test(decoded.toString('latin1', 0, 12)) || findKeys(decoded, isOpen, false) === null)
    return null
  return { start: from, end: from + coded.length }
}

function keyInRun(source: Source, start: number, end: number, seen: number): SecretRange | null {
  const { bytes, isCut } = source
  const cut = isCut && end === bytes.length
  const hasSigns = (seen & byteClass.sign) !== 0
  const from = Math.min(start + escapeLength(bytes, start), end)
  const mayBeKey = (seen & notWord) !== 0 || end - start >= longWord
  const key =
    cut || (mayBeKey && end - start >= shortestKey)
      ? prefixedKey(source, start, { start: from, end, hasSigns }, cut)
      : null
  let form = keyByForm(source, { start: from, end, hasSigns })
  if (form === null && from > start) {
    // What follows a backslash may be no escape's letter, but the key's own first one, which stays.
    form = keyByForm(source, { start, end, hasSigns })
    if (form !== null) form = { start: Math.max(form.start, start + 1), end: form.end }
  }
  if (key === null) return form ?? announcedSecret(source, start, end)
  return form === null ? key : { start: Math.min(key.start, form.start), end: Math.max(key.end, form.end) }
}

/** `start`: as that of the run, but before an escape's letter. */
function prefixedKey({ bytes, text }: Source, start: number, run: Run, cut: boolean): SecretRange | null {
  const { end } = run
  if (beginsKey(bytes, run.start, end, cut, 0)) return { start: run.start, end: keyEnd(text, run.start, end) }
  // The escape's letter may be the key's own if the text is no JSON: what follows it is masked all the same.
  if (run.start > start && beginsKey(bytes, start, end, cut, 0)) {
    return { start: start + 1, end: keyEnd(text, start, end) }
  }
  if (!run.hasSigns) return null
  const least = end - start > longRun ? chanceFreePrefix : 0
  for (let at = run.start + 1; at < end; at++) {
    if (byteClasses[bytes[at - 1] ?? 0] !== byteClass.sign || !beginsKey(bytes, at, end, cut, least)) continue
    return { start: at, end: keyEnd(text, at, end) }
  }
  return null
}
