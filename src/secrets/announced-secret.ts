import { byteClass, byteClasses, hasRandomSegment } from './key-prefixes.ts'

/** Where a secret stands: from `start` up to `end`. */
export interface SecretRange {
  readonly start: number
  readonly end: number
}

/**
 * How much a word says of what follows it. `password`: all of it is one; `key`: what looks like one; `token`: only
 * what looks random, as models have tokens, too; `scheme`: as `token`, after a space; `header`: the rest of the line;
 * `query`: all, but only between `?` or `&` and `=`; `spoken`: a long random text, behind `is` or the like.
 */
type Kind = 'password' | 'key' | 'token' | 'scheme' | 'header' | 'query' | 'spoken'

const endings: readonly (readonly [kind: Kind, words: string])[] = [
  ['password', 'password passwd passphrase pwd'],
  [
    'key',
    'secret apikey api_key api-key accesskey access_key access-key secretkey secret_key secret-key privatekey private_key private-key accountkey account_key account-key subscription-key subscription_key auth_key auth-key signing_key encryption_key master_key master-key masterkey credential credentials',
  ],
  ['token', 'token'],
  ['scheme', 'bearer'],
  ['header', 'authorization cookie'],
  ['query', 'key sig signature auth sas jwt pass'],
]

const announcing = endings
  .flatMap(([kind, names]) => names.split(' ').map((text) => ({ text, kind })))
  .sort((one, other) => other.text.length - one.text.length)
/** By their last three letters, five bits of each. */
const words: ReadonlyMap<number, typeof announcing> = new Map(
  Object.entries(Object.groupBy(announcing, ({ text }) => lastLetters(Buffer.from(text), text.length))).map(
    ([ending, group]) => [Number(ending), group ?? []],
  ),
)
/** Tells of nearly all words at once that they announce nothing. */
const endsWord = Uint8Array.from({ length: 2 ** 15 }, (_, ending) => (words.has(ending) ? 1 : 0))

const space = 0x20
const quote = 0x22
const apostrophe = 0x27
const backslash = 0x5c
const slash = 0x2f
const equals = 0x3d
const colon = 0x3a
/** How much of a value is looked at: bounds what a hostile text can cost. */
const longestLook = 256
/** Spaces between a word, its sign and its value. */
const mostSpaces = 8

/** Which bytes end a value that stands in no quotes. */
const endsValue = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= space || '"\'`,;&<>()[]{}|#'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

function lastLetters(bytes: Uint8Array, end: number): number {
  return (
    (((bytes[end - 3] ?? 0) & 31) << 10) | (((bytes[end - 2] ?? 0) & 31) << 5) | ((bytes[end - 1] ?? 0) & 31)
  )
}

/** Whether a word that ends here may announce a secret: false for nearly all words, at next to no cost. */
export function mayAnnounce(bytes: Uint8Array, wordEnd: number): boolean {
  return endsWord[lastLetters(bytes, wordEnd)] === 1
}

/** The secret that the word which ends at `wordEnd` announces, if it does and one follows. */
export function announcedSecret(
  bytes: Uint8Array,
  wordStart: number,
  wordEnd: number,
  isCut: boolean,
): SecretRange | null {
  if (!mayAnnounce(bytes, wordEnd)) return null
  const kind = kindOf(bytes, wordStart, wordEnd)
  if (kind === null) return null
  let at = quoteEnd(bytes, wordEnd)
  const isParameter =
    bytes[wordEnd] === equals &&
    (startsParameter(bytes, wordStart) || (kind !== 'query' && wordStart === 0)) &&
    quoteEnd(bytes, wordEnd + 1) === wordEnd + 1
  const nameQuoted = at > wordEnd
  if (nameQuoted && endsLineAt(bytes, at)) return formField(bytes, wordStart, at, kind, isCut)
  at = skipSpaces(bytes, at)
  const sign = bytes[at]
  const hasSign = sign === colon || sign === equals
  if (!hasSign && (nameQuoted || at === wordEnd)) return null
  if (hasSign && kind === 'spoken') return null
  if (kind === 'query' && !isParameter) return null
  if (hasSign) {
    at++
    // `:=`, `==`, `=>`
    if (bytes[at] === equals || bytes[at] === 0x3e) at++
    at = skipSpaces(bytes, at)
  } else if (kind === 'key' || kind === 'token' || kind === 'spoken') {
    const said = skipSaid(bytes, at)
    if (kind === 'spoken' && said === at) return null
    at = said
  }
  if (!hasSign && (kind === 'password' || kind === 'header')) return null
  const start = quoteEnd(bytes, at)
  const isQuoted = start > at
  // Outside a string of JSON only numbers and words follow a name in quotes: they stay, so that it stays JSON.
  if (nameQuoted && !isQuoted) return null
  if (isQuoted && followsString(bytes[start] ?? 0)) return null
  if (kind === 'header') return restOfHeader(bytes, start, isCut)
  return valueRange(bytes, start, {
    kind: isParameter ? 'query' : kind,
    hasSign,
    isQuoted,
    isPlain: start === at + 1,
    isCut,
  })
}

function endsLineAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x0d || bytes[at] === 0x0a
}

/** The value of a form field with this name: the line behind the blank one that ends its head (RFC 7578 §4.2). */
function formField(
  bytes: Uint8Array,
  wordStart: number,
  nameEnd: number,
  kind: Kind,
  isCut: boolean,
): SecretRange | null {
  let nameStart = wordStart
  while (wordStart - nameStart < 40 && bytes[nameStart - 1] !== quote) nameStart--
  if (!isWord(bytes, nameStart - 6, 'name="')) return null
  let start = nameEnd
  for (let breaks = 0; breaks < 2; start++) {
    const byte = bytes[start]
    if (start - nameEnd > longestLook || byte === undefined) return null
    if (byte === 0x0a) breaks++
    else if (byte !== 0x0d) breaks = 0
  }
  let end = start
  while (end < bytes.length && !endsLineAt(bytes, end)) end++
  const touchesEnd = isCut && end === bytes.length
  const looksSecret =
    kind === 'password' ||
    touchesEnd ||
    isSecret(bytes, start, end, { kind: 'key', hasSign: true, isQuoted: false, isPlain: true, isCut }, false)
  return end > start && looksSecret ? { start, end } : null
}

interface ValueSetting {
  readonly kind: Kind
  readonly hasSign: boolean
  readonly isQuoted: boolean
  /** No backslash before the quote: those within the value are part of it. */
  readonly isPlain: boolean
  readonly isCut: boolean
}

function valueRange(bytes: Uint8Array, start: number, setting: ValueSetting): SecretRange | null {
  const schemeEnd = schemeAt(bytes, start)
  const from = schemeEnd > start ? schemeEnd : start
  const limit = Math.min(bytes.length, from + longestLook)
  const quotedEnd = setting.isQuoted ? stringEnd(bytes, from, limit, setting.isPlain) : 0
  const lookEnd = quotedEnd > from ? quotedEnd : valueEnd(bytes, from, limit)
  const touchesEnd = setting.isCut && lookEnd === bytes.length
  if (lookEnd === from || !isSecret(bytes, from, lookEnd, setting, touchesEnd)) return null
  const end = lookEnd < limit ? lookEnd : Math.max(lookEnd, valueEnd(bytes, from, bytes.length))
  return { start: from, end }
}

/** Where a value in quotes ends; 0 where it holds a space, and so is prose, or does not end here. */
function stringEnd(bytes: Uint8Array, start: number, limit: number, isPlain: boolean): number {
  for (let at = start; at < limit; at++) {
    const byte = bytes[at] ?? 0
    if (byte <= space) return 0
    if (byte === quote || byte === apostrophe) return at
    if (byte === backslash && bytes[at + 1] !== slash) {
      if (!isPlain) return at
      at++
    }
  }
  return 0
}

/** What may stand behind a string of JSON: then the quote that was seen closed one. */
function followsString(byte: number): boolean {
  return byte <= space || byte === colon || byte === 0x2c || byte === 0x7d || byte === 0x5d
}

function isSecret(
  bytes: Uint8Array,
  start: number,
  end: number,
  { kind, hasSign, isQuoted }: ValueSetting,
  touchesEnd: boolean,
): boolean {
  if (isPlaceholder(bytes, start, end)) return false
  const length = end - start
  if (kind === 'query') return length >= 4 || touchesEnd
  if (touchesEnd && hasSign) return true
  if (kind === 'spoken') return hasRandomSegment(bytes, start, end, 24, 40)
  if (hasRandomSegment(bytes, start, end, 8, 20)) return true
  if (kind === 'password' && isQuoted && hasSign) return length >= 4
  if (!hasSign || kind === 'token' || kind === 'scheme') return false
  return length >= 6 && hasDigit(bytes, start, end)
}

/** What stands where a secret would, in code and in examples. */
function isPlaceholder(bytes: Uint8Array, start: number, end: number): boolean {
  // A call or an index follows: what stands here is code.
  const next = bytes[end]
  if ((next === 0x28 || next === 0x5b) && !hasRandomSegment(bytes, start, end, 12, 24)) return true
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(end - start, 40)).toString(
    'latin1',
  )
  if (/^\$(?:[{(]|[A-Z_][A-Z\d_]*$)/.test(text)) return true
  return /^(?:process\.env|import\.meta|os\.|self\.|this\.|settings\.|config\.|\[secret\]|hmac:|string$|null$|none$|true$|false$|undefined$|required$|optional$|your[-_])/i.test(
    text,
  )
}

/** `Authorization: …` to the end of its line or string; a cookie is one only where it has a `=`. */
function restOfHeader(bytes: Uint8Array, start: number, isCut: boolean): SecretRange | null {
  const from = schemeAt(bytes, start)
  const limit = Math.min(bytes.length, from + longestLook)
  let end = from
  let hasSign = false
  let hasSpace = false
  for (; end < limit && !endsLine(bytes, end); end++) {
    const byte = bytes[end] ?? 0
    hasSign ||= byte === equals
    hasSpace ||= byte === space
  }
  if (end === from) return null
  const isAll = isCut && end === bytes.length
  if (!isAll && !hasSign && !(hasRandomSegment(bytes, from, end, 6, 16) && !hasSpace)) return null
  if (isPlaceholder(bytes, from, end)) return null
  while (end < bytes.length && !endsLine(bytes, end)) end++
  return { start: from, end }
}

function endsLine(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0
  return (
    byte < space || byte === quote || byte === apostrophe || (byte === backslash && bytes[at + 1] !== slash)
  )
}

function kindOf(bytes: Uint8Array, start: number, end: number): Kind | null {
  for (const { text, kind } of words.get(lastLetters(bytes, end)) ?? []) {
    const from = end - text.length
    if (from < start || !isWord(bytes, from, text)) continue
    if (kind === 'query' && from > start && text !== 'signature') continue
    if (kind !== 'query' || bytes[end] === equals) return kind
    // `API key provided: …`, with a space in the name
    if (text === 'key') return isWord(bytes, from - 4, 'api ') ? 'key' : 'spoken'
    return null
  }
  return null
}

/** Letters in either case; `_` and `-` as they are. */
function isWord(bytes: Uint8Array, start: number, word: string): boolean {
  if (start < 0) return false
  for (let i = 0; i < word.length; i++) {
    const byte = bytes[start + i] ?? 0
    const kind = byteClasses[byte] ?? 0
    if ((kind === byteClass.upper ? byte | 0x20 : byte) !== word.charCodeAt(i)) return false
  }
  return true
}

/** Whether the run is this word, in either case. */
export function announcedWord(bytes: Uint8Array, start: number, end: number, word: string): boolean {
  return end - start === word.length && isWord(bytes, start, word)
}

function startsParameter(bytes: Uint8Array, start: number): boolean {
  let at = start - 1
  // `X-Amz-` and the like
  while (at >= 0 && (byteClasses[bytes[at] ?? 0] ?? 0) !== 0 && start - at < 16) at--
  const byte = bytes[at]
  return byte === 0x3f || byte === 0x26 || byte === 0x3b
}

/** Past the quotes that stand here with their backslashes; where there are none, here. */
function quoteEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === backslash && at - start < 16) at++
  return bytes[at] === quote || bytes[at] === apostrophe ? at + 1 : start
}

function skipSpaces(bytes: Uint8Array, start: number): number {
  let at = start
  while ((bytes[at] === space || bytes[at] === 0x09) && at - start < mostSpaces) at++
  return at
}

/** `provided: `, `is ` and the like between the word and what it announces. */
function skipSaid(bytes: Uint8Array, start: number): number {
  for (const said of ['provided: ', 'provided ', 'is: ', 'is ', 'was ', 'value ']) {
    if (isWord(bytes, start, said)) return quoteEnd(bytes, skipSpaces(bytes, start + said.length))
  }
  return start
}

/** Past the name of a scheme of HTTP authentication; where there is none, here. */
function schemeAt(bytes: Uint8Array, start: number): number {
  for (const scheme of ['bearer ', 'basic ', 'token ', 'apikey ', 'digest ', 'key ', 'negotiate ']) {
    if (isWord(bytes, start, scheme)) return skipSpaces(bytes, start + scheme.length)
  }
  return start
}

/** Where a value ends: a backslash ends it, too, but that of a slash. */
function valueEnd(bytes: Uint8Array, start: number, limit: number): number {
  let at = start
  while (at < limit) {
    const byte = bytes[at] ?? 0
    if (byte === backslash) {
      if (bytes[at + 1] !== slash) break
    } else if (endsValue[byte] === 1) break
    at++
  }
  // The end of a sentence, and emphasis, are no part of it.
  while (at > start && (bytes[at - 1] === 0x2e || bytes[at - 1] === 0x2a)) at--
  return at
}

function hasDigit(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (byteClasses[bytes[at] ?? 0] === byteClass.digit) return true
  return false
}
