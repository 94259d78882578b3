import { matchAt, type SecretRange } from './key-forms.ts'
import { byteClasses, isRandom, type Source } from './key-prefixes.ts'

/**
 * How strongly a word announces a secret. `password`: all of it is one; `key`: what looks like one; `token`: only
 * what looks random, as models have tokens, too; `scheme`: as `token`, after a space; `header`: the rest of the line;
 * `query`: all, but only between `?` or `&` and `=`; `spoken`: a long random text, behind `is` or the like.
 */
type Kind = 'password' | 'key' | 'token' | 'scheme' | 'header' | 'query' | 'spoken'

const keyWord = '(?:api|access|secret|private|account|subscription|auth|signing|encryption|master)[_-]?key'
/** Words that announce a secret when a run ends with them; those of a query when they are all of it. */
const word = new RegExp(
  `(?:(password|passwd|passphrase|pwd)|(secret|${keyWord}|credentials?)|(token)|(bearer)|(authorization|cookie)|(^(?:key|sig|auth|sas|jwt|pass)|signature))$`,
  'i',
)
/** The names of a word's groups. */
const kinds: readonly Kind[] = ['password', 'key', 'token', 'scheme', 'header', 'query']
const longestWord = 'subscription-key'.length + 1
const endsWord = new Uint8Array(2 ** 15)
for (const ending of 'ord swd ase pwd ret key ial als ken rer ion kie sig ure uth sas jwt ass'.split(' '))
  endsWord[lastLetters(Buffer.from(ending), 3)] = 1

/** After the word: its closing quote, spaces, a sign or a word in its place, and the value's opening quote. */
const behindWord =
  /(\\{0,16}["'])?[ \t]{0,8}(?:([:=])[=>]?[ \t]{0,8}|((?:provided:? |is:? |was |value )[ \t]{0,8})?)(\\{0,16}["'])?/iy
/** The name of a scheme of HTTP authentication. */
const schemeName = /(?:bearer|basic|token|apikey|digest|key|negotiate) [ \t]{0,8}/iy

const space = 0x20
/** Most characters of a value that are examined: a bound on the cost of hostile texts. */
const longestLook = 256
/** A character of a value without quotes: a backslash ends the value, except in `\/`. */
const bareValue = String.raw`(?:[^\x00-\x20"'\x60,;&<>()[\]{}|#\\]|\\(?=/))`
/** A character of a value in quotes, without spaces: text with spaces is prose. */
const unquoted = String.raw`[^\x00-\x20"'\\]`
const quotedValue = new RegExp(String.raw`(?:${unquoted}|\\.){0,256}(?=["'])`, 'sy')
const escapedValue = new RegExp(String.raw`(?:${unquoted}|\\(?=/)){0,256}(?=["'\\])`, 'y')
const restOfLine = String.raw`(?:[^\x00-\x1f"'\\]|\\(?=/))`
const [bareLook, bareWhole, lineLook, lineWhole] = [bareValue, restOfLine].flatMap((value) => [
  new RegExp(`${value}{0,${longestLook}}`, 'y'),
  new RegExp(`${value}*`, 'y'),
]) as [RegExp, RegExp, RegExp, RegExp]
/** A form field's head behind its name, and its value: RFC 7578 §4.2. */
const formField = /(?=[\r\n]).{0,256}?\n\r*\n([^\r\n]+)/sy

/** Placeholders in code and examples. */
const placeholder =
  /^(?:process\.env|import\.meta|os\.|self\.|this\.|settings\.|config\.|\[secret\]|hmac:|string$|null$|none$|true$|false$|undefined$|required$|optional$|your[-_])/i
const variable = /^\$(?:[{(]|[A-Z_][A-Z\d_]*$)/

/** The last three letters as a number, five bits each. */
function lastLetters(bytes: Uint8Array, end: number): number {
  return (
    (((bytes[end - 3] ?? 0) & 31) << 10) | (((bytes[end - 2] ?? 0) & 31) << 5) | ((bytes[end - 1] ?? 0) & 31)
  )
}

/** False for nearly all words that announce no secret, at almost no cost. */
export function mayAnnounce(bytes: Uint8Array, wordEnd: number): boolean {
  return endsWord[lastLetters(bytes, wordEnd)] === 1
}

/** The secret after the word that ends at `wordEnd`; null if the word announces none, or none follows. */
export function announcedSecret(source: Source, wordStart: number, wordEnd: number): SecretRange | null {
  const { bytes, text } = source
  const kind = mayAnnounce(bytes, wordEnd) ? kindOf(text, wordStart, wordEnd) : null
  const found = kind === null ? null : matchAt(behindWord, text, wordEnd)
  if (kind === null || found === null) return null
  const [all, nameQuote, sign, said, quote] = found
  const hasSign = sign !== undefined
  if (nameQuote !== undefined) {
    const nameEnd = wordEnd + nameQuote.length
    if ('\r\n'.includes(text.charAt(nameEnd))) return fieldValue(source, wordStart, nameEnd, kind)
    // Numbers and words after a name in quotes stay, so that the text stays JSON.
    if (!hasSign || quote === undefined) return null
  }
  const start = wordEnd + all.length
  const isParameter =
    text.charAt(wordEnd) === '=' &&
    (startsParameter(bytes, wordStart) || (kind !== 'query' && wordStart === 0)) &&
    !/^\\{0,16}["']/.test(text.slice(wordEnd + 1, wordEnd + 18))
  if (kind === 'query' && !isParameter) return null
  if (hasSign ? kind === 'spoken' : !mayBeSaid(kind, said) || start === wordEnd) return null
  if (quote !== undefined && followsString(bytes[start] ?? space)) return null
  if (kind === 'header') return restOfHeader(source, start)
  return valueRange(source, start, isParameter ? 'query' : kind, hasSign, quote ?? '')
}

/** True if this byte may follow a JSON string: then the quote before it closed a string. */
function followsString(byte: number): boolean {
  return byte <= space || ':,}]'.includes(String.fromCharCode(byte))
}

/** True if a word of this kind announces without a sign. */
function mayBeSaid(kind: Kind, said: string | undefined): boolean {
  if (kind === 'spoken') return said !== undefined
  return kind === 'key' || kind === 'token' || kind === 'scheme'
}

function kindOf(text: string, start: number, end: number): Kind | null {
  const found = word.exec(text.slice(Math.max(start, end - longestWord), end))
  if (found === null) return null
  const kind = kinds[found.lastIndexOf(found[0]) - 1] ?? null
  if (kind !== 'query' || text.charAt(end) === '=') return kind
  if (found[0].toLowerCase() !== 'key') return null
  // `API key provided: …`, with a space in the name
  return /^api $/i.test(text.slice(Math.max(0, start - 4), start)) ? 'key' : 'spoken'
}

/** The value of a form field with this name. */
function fieldValue(source: Source, wordStart: number, nameEnd: number, kind: Kind): SecretRange | null {
  const { text, isCut } = source
  if (!/name="[^"]{0,40}$/i.test(text.slice(Math.max(0, wordStart - 46), wordStart))) return null
  const [all = '', value = ''] = matchAt(formField, text, nameEnd) ?? []
  const end = nameEnd + all.length
  const start = end - value.length
  const isSecretHere =
    kind === 'password' || (isCut && end === text.length) || isSecret(source, start, end, 'key', true, false)
  return value !== '' && isSecretHere ? { start, end } : null
}

function valueRange(
  source: Source,
  start: number,
  kind: Kind,
  hasSign: boolean,
  quote: string,
): SecretRange | null {
  const { text, isCut } = source
  const from = start + (matchAt(schemeName, text, start)?.[0].length ?? 0)
  const inQuotes =
    quote === '' ? '' : (matchAt(quote.length === 1 ? quotedValue : escapedValue, text, from)?.[0] ?? '')
  // A final full stop, or emphasis, is no part of the value.
  const look = inQuotes === '' ? (matchAt(bareLook, text, from)?.[0] ?? '').replace(/[.*]+$/, '') : inQuotes
  const lookEnd = from + look.length
  const touchesEnd = isCut && lookEnd === text.length
  if (look === '') return null
  if (!isSecret(source, from, lookEnd, kind, hasSign, quote !== '', touchesEnd)) return null
  if (look.length < longestLook) return { start: from, end: lookEnd }
  return { start: from, end: Math.max(lookEnd, from + (matchAt(bareWhole, text, from)?.[0].length ?? 0)) }
}

function isSecret(
  source: Source,
  start: number,
  end: number,
  kind: Kind,
  hasSign: boolean,
  isQuoted: boolean,
  touchesEnd: boolean = false,
): boolean {
  if (isPlaceholder(source, start, end)) return false
  const { bytes, text } = source
  const length = end - start
  if (kind === 'query') return length >= 4 || touchesEnd
  if (touchesEnd && hasSign) return true
  if (kind === 'spoken') return isRandom(bytes, start, end, 24, 40)
  if (isRandom(bytes, start, end, 8, 20)) return true
  if (kind === 'password' && isQuoted && hasSign) return length >= 4
  if (!hasSign || kind === 'token' || kind === 'scheme') return false
  return length >= 6 && /\d/.test(text.slice(start, end))
}

function isPlaceholder({ bytes, text }: Source, start: number, end: number): boolean {
  // A call or an index follows, so this is code.
  if ('(['.includes(text.charAt(end) || ' ') && !isRandom(bytes, start, end, 12, 24)) return true
  const value = text.slice(start, Math.min(end, start + 40))
  return variable.test(value) || placeholder.test(value)
}

/** `Authorization: …` to the end of its line or string; a cookie is one only if it has a `=`. */
function restOfHeader(source: Source, start: number): SecretRange | null {
  const { bytes, text, isCut } = source
  const from = start + (matchAt(schemeName, text, start)?.[0].length ?? 0)
  const look = matchAt(lineLook, text, from)?.[0] ?? ''
  const end = from + look.length
  if (look === '' || isPlaceholder(source, from, end)) return null
  const isAll = (isCut && end === text.length) || look.includes('=')
  if (!isAll && (look.includes(' ') || !isRandom(bytes, from, end, 6, 16))) return null
  return { start: from, end: from + (matchAt(lineWhole, text, from)?.[0].length ?? 0) }
}

/** True after `?`, `&` or `;`, with a prefix such as `X-Amz-` in between. */
function startsParameter(bytes: Uint8Array, start: number): boolean {
  let at = start - 1
  while (at >= 0 && (byteClasses[bytes[at] ?? 0] ?? 0) !== 0 && start - at < 16) at--
  return at >= 0 && '?&;'.includes(String.fromCharCode(bytes[at] ?? 0))
}
