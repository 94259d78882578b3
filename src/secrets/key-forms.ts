import { beginsKey, byteClass, byteClasses, isRandom, letter, type Source } from './key-prefixes.ts'

/** The span of a secret: from `start` up to `end`. */
export interface SecretRange {
  readonly start: number
  readonly end: number
}

const dot = 0x2e
const slash = 0x2f
const colon = 0x3a
const tilde = 0x7e
const space = 0x20
const percent = 0x25
const hyphen = 0x2d
const capitalN = 0x4e
const backslash = 0x5c
const letterU = 0x75

/** Most places in a run where a key may begin: after emphasis, or parts of a name. */
const mostStarts = 16
/** The shortest run that may have a prefix. */
export const shortestKey = 8
/** The shortest run of letters alone that is examined. */
export const longWord = 16
/** The shortest run before a dot that is examined. */
export const leastBeforeDot = 10
/** The shortest run after a name and a dot. */
const leastBehindName = 16
/** In a run longer than the first number, which is random itself, prefixes shorter than the second occur by chance. */
const [longRun, chanceFreePrefix] = [256, 6]

/** A pattern of whole keys, and one of their beginnings at the end of a cut text. */
interface Form {
  readonly whole: RegExp
  readonly cut: RegExp
}

function form(whole: string, cut: string): Form {
  return { whole: new RegExp(whole, 'sy'), cut: new RegExp(`(?:${cut})$`, 'sy') }
}

/**
 * Amazon's ids; what 32 hexadecimal digits follow: Databricks, Twilio, Mailgun. They end their run. JSON web tokens; `id.secret` of
 * Airtable.
 */
const known = form(
  String.raw`(?:A(?:KIA|SIA|BIA|CCA)[A-Z\d]{16}|(?:dapi|SK|AC|key-)[\da-f]{32}[\w*-]{0,2})(?=\**(?![\w*-]))|eyJ[\w*-]{7,}\.[\w*-]{6,}(?:\.[\w*-]+)*|pat[\w*-]{14}\.[\w*-]{64,}`,
  String.raw`(?:A(?:KIA|SIA|BIA|CCA)[A-Z\d]{3,}|(?:dapi|SK|AC|key-)(?:[\da-f]{4,31}|[\da-f]{32}[\w*-]*))\**|eyJ[\w*-]{7,}(?:\.[\w*-]*)?|pat[\w*-]{14}\.[\w*-]*`,
)
/** `id.time.signature` of Discord, `id.secret` of Zhipu; the first part, and the second of 32 and more, are random. */
const inRandomParts = form(
  String.raw`[\w*-]{23,31}\.[\w*-]{5,7}\.[\w*-]{25,}|[\w*-]{32}\.[\w*-]{16,}`,
  String.raw`[\w*-]{23,32}\.[\w*-]*|[\w*-]{23,31}\.[\w*-]{5,7}\.[\w*-]*`,
)
const leastRandom = 23
/** The bytes that `known` begins with. */
const beginsForm = Uint8Array.from({ length: 256 }, (_, byte) =>
  'AdSkep'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
/** The beginning of a word, also after an escape: `\n`, `%20`, `\u000a`. */
const wordStart = String.raw`(?<=^|[^A-Za-z\d]|\\.|%..|\\.{5})`
/** SendGrid, Vault, Google, Doppler, Dynatrace, Harness; with what stands before it, Terraform; Cloudflare's origin keys. */
const dottedNames =
  String.raw`SG hvs hvb hvr ya29 AQ dp\.pt dp\.st dp\.ct dp\.sa dt0c01 dt0s01 dt0s02 dt0s16 pat sat atlasv1`.split(
    ' ',
  )
const behindName = new RegExp(
  String.raw`(?<=([\w*-]{0,32}\.atlasv1|${wordStart}(?:${dottedNames.join('|')})|v1(?=\.0-))\.)`,
  'sy',
)
/** Tokens of Telegram, also behind `bot` in a path. */
const botToken = form(String.raw`(?<=(\d{8,12})):(?=[\w*-]{30})[\w*-]+`, String.raw`(?<=(\d{8,12})):A[\w*-]*`)
/** `sha256~…` of OpenShift; `abc8Q~…` of Azure, whose secrets have dots and tildes in them. */
const aroundTilde = form(
  String.raw`(?<=sha256)~[\w*-]{31,}|(?<=[\w*-]{3}\dQ)~(?=[\w*.~-]{31})[\w*-]+(?:[.~][\w*-]+){0,8}`,
  String.raw`(?<=sha256)~[\w*-]*|(?<=[\w*-]{3}\dQ)~[\w*.~-]{0,80}`,
)
/** `hooks.slack.com/services/T…/B…/…`, `discord.com/api/webhooks/…/…` */
const webhook = form(
  String.raw`(?<=(?i:services)/(?=T)|(?i:webhooks)/(?=\d))(?=[\w*/-]{30})[\w*-]+(?:/[\w*-]*)+`,
  String.raw`(?<=(?i:services)/(?=T)|(?i:webhooks)/(?=\d))[\w*/-]*`,
)
/** Characters that are never in a URL's user name or an option's value. */
const unspaced = String.raw`\x00-\x20/?#"'<>\\\x60,`
/** The user and the password of a URL. */
const userOfUrl = new RegExp(String.raw`:(?:\\?/){2}([^${unspaced}]+)`, 'y')
const pemLabel = /-----BEGIN( .{0,54}?)-----/sy
const pemLines = /[\w*+/=:,.\\ \n\r\t-]*/y
const basicCredentials = /basic ([\w*+/-]{3,}=*)/iy
const userOption = new RegExp(`(?:-u|--user) [^${unspaced}:]*:([^${unspaced}]{3,})`, 'y')

/** The match of a sticky pattern at an offset. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** A whole key at an offset, or the beginning of one at the end of a cut text. */
function find(forms: Form, { text, isCut }: Source, at: number): RegExpExecArray | null {
  return matchAt(forms.whole, text, at) ?? (isCut ? matchAt(forms.cut, text, at) : null)
}

/** The credential in a run of key characters, or around the sign after it; `seen` are the classes of the run's bytes. */
export function keyInRun(source: Source, start: number, end: number, seen: number): SecretRange | null {
  const { bytes, text, isCut } = source
  const isLast = isCut && end === text.length
  const from = Math.min(start + escapeLength(bytes, start), end)
  const mayBeKey = (end - start >= shortestKey && (seen & ~letter) !== 0) || end - start >= longWord
  let key = keyAroundSign(source, from, end)
  if (isLast || mayBeKey || (bytes[end] === dot && end - start >= leastBeforeDot)) {
    const hasSigns = (seen & byteClass.sign) !== 0
    key = asOne(key, keyInside(source, from, end, hasSigns))
    // A letter after a backslash may belong to the key; it stays.
    const whole = from > start ? keyInside(source, start, end, hasSigns) : null
    if (whole !== null) key = asOne(key, { start: Math.max(whole.start, start + 1), end: whole.end })
  }
  return key
}

/** The span of two keys without a space between them. */
function asOne(one: SecretRange | null, other: SecretRange | null): SecretRange | null {
  if (one === null || other === null) return one ?? other
  return { start: Math.min(one.start, other.start), end: Math.max(one.end, other.end) }
}

function keyAroundSign(source: Source, start: number, end: number): SecretRange | null {
  const { bytes, text } = source
  switch (bytes[end]) {
    case colon:
      return urlUser(source, end) ?? behindSign(source, start, end, botToken, 60)
    case slash:
      return end - start === 'services'.length ? rangeAt(find(webhook, source, end + 1)) : null
    case tilde:
      return behindSign(source, start, end, aroundTilde, 40)
    case space:
      if (bytes[end - 1] === capitalN) return pem(text, end)
      if (end - start === 'basic'.length) return basicPassword(text, start)
      return bytes[start] === hyphen ? optionPassword(text, start) : null
    default:
      return null
  }
}

/** The first key that begins with the run, or after a sign in it. */
function keyInside(source: Source, start: number, end: number, hasSigns: boolean): SecretRange | null {
  const { bytes, text, isCut } = source
  const isLast = isCut && end === text.length
  if (bytes[start - 1] === dot && (isLast || end - start >= leastBehindName)) {
    const key = keyBehindName(source, start, end, isLast)
    if (key !== null) return key
  }
  const hasParts = isLast || bytes[end] === dot
  let starts = 0
  for (let at = start; at < end; at++) {
    if (at > start && byteClasses[bytes[at - 1] ?? 0] !== byteClass.sign) {
      if (!hasSigns) break
      continue
    }
    const least = at > start && end - start > longRun ? chanceFreePrefix : 0
    if (beginsKey(bytes, at, end, isLast, least)) return { start: at, end: keyEnd(text, at, end) }
    if (++starts > mostStarts) continue
    const found =
      (beginsForm[bytes[at] ?? 0] === 1 ? find(known, source, at) : null) ??
      (hasParts && end - at >= leastRandom ? randomParts(source, at) : null)
    if (found !== null) return rangeAt(found)
  }
  return null
}

function randomParts(source: Source, at: number): RegExpExecArray | null {
  const { bytes, text, isCut } = source
  const found = find(inRandomParts, source, at)
  if (found === null) return null
  const [first = '', second = '', third] = found[0].split('.')
  if (!isRandom(bytes, at, at + first.length, 20, 33)) return null
  const isComplete = third !== undefined || (isCut && at + found[0].length === text.length)
  const from = at + first.length + 1
  return isComplete || isRandom(bytes, from, from + second.length, 16, 17) ? found : null
}

function keyBehindName(
  { bytes, text }: Source,
  start: number,
  end: number,
  isLast: boolean,
): SecretRange | null {
  const [, name] = matchAt(behindName, text, start) ?? []
  if (name === undefined) return null
  const from = start - name.length - 1
  if (name === 'v1') return isLast || isRandom(bytes, start, end, 24, 24) ? { start: from, end } : null
  if (!isLast && !isRandom(bytes, start, end, 12, 20)) return null
  const escaped = name.endsWith('.atlasv1') ? escapeLength(bytes, from) : 0
  return { start: from + escaped, end: keyEnd(text, from, end) }
}

function urlUser({ bytes, text, isCut }: Source, at: number): SecretRange | null {
  const found = matchAt(userOfUrl, text, at)
  const [whole = '', said = ''] = found ?? []
  const start = at + whole.length - said.length
  const firstColon = said.indexOf(':')
  const userEnd = said.lastIndexOf('@')
  if (userEnd < 0) {
    // A port has digits only.
    const isPassword = firstColon >= 0 && /\D/.test(said.slice(firstColon + 1))
    return isPassword && isCut && start + said.length === text.length ? { start, end: text.length } : null
  }
  const isSecret = (firstColon >= 0 && firstColon < userEnd) || isRandom(bytes, start, start + userEnd, 8, 20)
  return isSecret && userEnd > 0 ? { start, end: start + userEnd } : null
}

/** A key around the sign after a run, with a random part after the sign. It begins with the form's group, or with the run. */
function behindSign(
  source: Source,
  start: number,
  end: number,
  signed: Form,
  any: number,
): SecretRange | null {
  const { bytes, text, isCut } = source
  const [found, before] = find(signed, source, end) ?? []
  if (found === undefined) return null
  const last = end + found.length
  const isKey = (isCut && last === text.length) || isRandom(bytes, end + 1, last, 8, any)
  return isKey ? { start: before === undefined ? start : end - before.length, end: last } : null
}

/** A private key in PEM. */
function pem(text: string, headEnd: number): SecretRange | null {
  const label = matchAt(pemLabel, text, headEnd - '-----BEGIN'.length)
  if (label?.[1]?.includes('PRIVATE KEY') !== true) return null
  const start = label.index + label[0].length
  const lines = matchAt(pemLines, text, start)?.[0] ?? ''
  const closing = lines.indexOf('-----END')
  if (closing >= 0) return { start, end: start + closing }
  let end = start + lines.length
  // A backslash belongs to the text after it.
  while (text[end - 1] === '\\') end--
  return { start, end }
}

function basicPassword(text: string, at: number): SecretRange | null {
  const [whole = '', said = ''] = matchAt(basicCredentials, text, at) ?? []
  if (said.length < 8) return null
  const decoded = Buffer.from(said.slice(0, 512), 'base64').toString('latin1')
  const end = at + whole.length
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded) ? { start: end - said.length, end } : null
}

/** The password in `curl -u name:password`. */
function optionPassword(text: string, at: number): SecretRange | null {
  const [whole = '', password = ''] = matchAt(userOption, text, at) ?? []
  const end = at + whole.length
  return /\D/.test(password) ? { start: end - password.length, end } : null
}

function rangeAt(found: RegExpExecArray | null): SecretRange | null {
  return found === null ? null : { start: found.index, end: found.index + found[0].length }
}

/** The number of an escape's letters (`\n`, `\u000a`, `%20`) at the beginning of a run. */
function escapeLength(bytes: Uint8Array, start: number): number {
  const before = bytes[start - 1]
  if (before === percent) return 2
  if (before !== backslash) return 0
  return bytes[start] === letterU ? 5 : 1
}

/** Characters that join the parts of a key: dots, padding of base64; in Amazon's long keys slashes, too. */
const joined = /(?:[.+][\w*-]+|=[\w*-]*)*/y
const joinedBySlashes = /(?:[.+/][\w*-]+|=[\w*-]*)*/y

function keyEnd(text: string, start: number, end: number): number {
  const pattern = text.startsWith('ABSK', start) ? joinedBySlashes : joined
  return end + (matchAt(pattern, text, end)?.[0].length ?? 0)
}
