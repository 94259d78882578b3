import { announcedWord, type SecretRange } from './announced-secret.ts'
import { byteClass, byteClasses, hasRandomSegment, standsAt } from './key-prefixes.ts'

const space = 0x20
const percent = 0x25
const hyphen = 0x2d
const dot = 0x2e
const plus = 0x2b
const equals = 0x3d
const slash = 0x2f
const colon = 0x3a
const atSign = 0x40
const letterU = 0x75
const backslash = 0x5c
const star = 0x2a
const tilde = 0x7e
const alphanumeric = byteClass.digit | byteClass.upper | byteClass.lower

/** Names that stand before a dot and the key: SendGrid, Vault, Google, Doppler, Dynatrace, Harness, Terraform. */
const dottedNames =
  'SG hvs hvb hvr ya29 AQ dp.pt dp.st dp.ct dp.sa dt0c01 dt0s01 dt0s02 dt0s16 pat sat atlasv1'
    .split(' ')
    .map((name) => Buffer.from(`${name}.`))
const terraform = Buffer.from('.atlasv1.')
/** Before 24 and 146 hexadecimal digits: a key of Cloudflare's for origin certificates. */
const cloudflare = Buffer.from('v1.0-')
const airtable = Buffer.from('pat')
const openShift = Buffer.from('sha256')
const amazonIds = ['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((name) => Buffer.from(name))
/** What 32 hexadecimal digits follow: Databricks, Twilio, Mailgun. */
const hexPrefixes = ['dapi', 'SK', 'AC', 'key-'].map((name) => Buffer.from(name))
const bedrockStart = Buffer.from('ABSK')
const jwtStart = Buffer.from('eyJ')
const pemBegin = Buffer.from('-----BEGIN')
const pemEnd = Buffer.from('-----END')
const dashes = Buffer.from('-----')
const longestPemLabel = 60
const privateKey = Buffer.from('PRIVATE KEY')

/** How long the keys are that have a length of their own: Amazon's, Twilio's, Mailgun's and Databricks'. */
const ownLengths = [20, 34, 36, 38] as const

/** What a private key's lines are made of, and their breaks, escaped or not. */
const inPem = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byteClasses[byte] ?? 0) !== 0 || ' \n\r\t\\+/=:,.'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
/** What ends the part of a URL that names a user. */
const endsUser = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= space || '/?#"\'<>\\`,'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** Emphasis around a key, and parts of a name before it: in so many places of a run a key may begin. */
const mostStarts = 16

/** Credentials that are known by more than how they begin. `from` is where the run begins behind an escape's letter. */
export function keyByForm(
  bytes: Buffer,
  from: number,
  end: number,
  seen: number,
  isCut: boolean,
): SecretRange | null {
  const length = end - from
  const next = bytes[end] ?? 0
  const isLast = isCut && end === bytes.length
  if (isLast || length >= 16 || (next === dot && length >= 10)) {
    const key = keyInside(bytes, from, end, seen, isCut)
    if (key !== null) return key
  }
  if (next === colon) return urlUser(bytes, end, isCut) ?? botToken(bytes, from, end, isCut)
  if (next === slash) return webhook(bytes, from, end, isCut)
  if (next === tilde) return keyAroundTilde(bytes, from, end, isCut)
  if (next !== space) return null
  if (bytes[end - 1] === 0x4e) return pem(bytes, from, end)
  if (length === 5) return basicCredentials(bytes, from, end)
  return bytes[from] === hyphen ? userOption(bytes, from, end) : null
}

function keyInside(
  bytes: Uint8Array,
  from: number,
  end: number,
  seen: number,
  isCut: boolean,
): SecretRange | null {
  const isLast = isCut && end === bytes.length
  if (bytes[from - 1] === dot) {
    const key = dottedKey(bytes, from, end, isLast)
    if (key !== null) return key
  }
  let last = end
  while (bytes[last - 1] === star) last--
  if (bytes[end] !== dot && !isLast) return keyOfLength(bytes, from, last)
  // Where no sign divides the run, a key can only begin where it does.
  const lastStart = (seen & byteClass.sign) === 0 ? from : last - 1
  let starts = 0
  for (let start = from; start <= lastStart && starts < mostStarts; start++) {
    if (start > from && byteClasses[bytes[start - 1] ?? 0] !== byteClass.sign) continue
    starts++
    if (isAmazonId(bytes, start, last, isLast) || isHexKey(bytes, start, last, isLast)) {
      return { start, end: last }
    }
    if (standsAt(bytes, jwtStart, start, end) && isJwt(bytes, start, end, isCut)) {
      return { start, end: dottedEnd(bytes, end) }
    }
    if (bytes[end] === dot) {
      const key = keyInParts(bytes, start, end, isCut)
      if (key !== null) return key
    }
  }
  return null
}

/** A key of a length of its own at the end of the run: it is the whole run, or stands behind a sign. */
function keyOfLength(bytes: Uint8Array, from: number, end: number): SecretRange | null {
  for (const length of ownLengths) {
    const start = end - length
    if (start < from) break
    if (start > from && byteClasses[bytes[start - 1] ?? 0] !== byteClass.sign) continue
    if (isAmazonId(bytes, start, end, false) || isHexKey(bytes, start, end, false)) return { start, end }
  }
  return null
}

/** A token that has at least two parts, or of which a cut left less. */
function isJwt(bytes: Uint8Array, start: number, end: number, isCut: boolean): boolean {
  if (end - start < 10) return false
  const second = bytes[end] === dot ? runEnd(bytes, end + 1) : end
  return second >= end + 7 || (isCut && second === bytes.length)
}

/** Where the run that begins here ends. */
function runEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while ((byteClasses[bytes[at] ?? 0] ?? 0) !== 0) at++
  return at
}

/** Where the run that ends here begins; a hostile one is not followed far. */
function runStart(bytes: Uint8Array, end: number): number {
  let at = end
  while (end - at < 32 && (byteClasses[bytes[at - 1] ?? 0] ?? 0) !== 0) at--
  return at + escapeLength(bytes, at)
}

/** Past all runs that dots join. */
function dottedEnd(bytes: Uint8Array, end: number): number {
  let at = end
  while (bytes[at] === dot) {
    const next = runEnd(bytes, at + 1)
    if (next === at + 1) break
    at = next
  }
  return at
}

/** Where text is written with escapes, letters of one (`\n`, `\u000a`, `%20`) stand before the run's true start. */
export function escapeLength(bytes: Uint8Array, start: number): number {
  const before = bytes[start - 1]
  if (before === percent) return 2
  if (before !== backslash) return 0
  return bytes[start] === letterU ? 5 : 1
}

/** Where a key ends that goes on behind dots, or in base64 with its padding. */
export function keyEnd(bytes: Uint8Array, start: number, end: number): number {
  const hasSlashes = standsAt(bytes, bedrockStart, start, end)
  let at = end
  for (;;) {
    const byte = bytes[at]
    if (byte !== dot && byte !== equals && byte !== plus && !(hasSlashes && byte === slash)) return at
    const next = runEnd(bytes, at + 1)
    if (next === at + 1 && byte !== equals) return at
    at = next
  }
}

function isAmazonId(bytes: Uint8Array, start: number, end: number, isLast: boolean): boolean {
  if (end - start !== 20 && !(isLast && end - start > 6)) return false
  if (!amazonIds.some((name) => standsAt(bytes, name, start, end))) return false
  for (let at = start; at < end; at++) {
    const kind = byteClasses[bytes[at] ?? 0]
    if (kind !== byteClass.upper && kind !== byteClass.digit) return false
  }
  return true
}

function isHexKey(bytes: Uint8Array, start: number, end: number, isLast: boolean): boolean {
  const prefix = hexPrefixes.find((name) => standsAt(bytes, name, start, end))
  if (prefix === undefined) return false
  const from = start + prefix.length
  if (isLast ? end - from < 4 : end - from < 32 || end - from > 34) return false
  for (let at = from; at < Math.min(end, from + 32); at++) {
    const byte = bytes[at] ?? 0
    if (byteClasses[byte] !== byteClass.digit && (byte < 0x61 || byte > 0x66)) return false
  }
  return true
}

function dottedKey(bytes: Uint8Array, from: number, end: number, isLast: boolean): SecretRange | null {
  const version = from - 3
  if (
    standsAt(bytes, cloudflare, version, end) &&
    (isLast || hasRandomSegment(bytes, from + 2, end, 24, 24))
  ) {
    return { start: version, end }
  }
  for (const name of dottedNames) {
    const start = from - name.length
    if (!standsAt(bytes, name, start, from)) continue
    if (((byteClasses[bytes[start - 1] ?? 0] ?? 0) & alphanumeric) !== 0 && !followsEscape(bytes, start))
      continue
    if (!isLast && !hasRandomSegment(bytes, from, end, 12, 20)) continue
    const isTerraform = standsAt(bytes, terraform, from - terraform.length, from)
    return { start: isTerraform ? runStart(bytes, start - 1) : start, end: keyEnd(bytes, start, end) }
  }
  return null
}

/** `sha256~…` of OpenShift; `abc8Q~…` of Azure, whose secrets have dots and tildes in them. */
function keyAroundTilde(bytes: Uint8Array, from: number, end: number, isCut: boolean): SecretRange | null {
  const isOpenShift = standsAt(bytes, openShift, end - openShift.length, end)
  const isAzure =
    end - from >= 5 && bytes[end - 1] === 0x51 && byteClasses[bytes[end - 2] ?? 0] === byteClass.digit
  if (!isOpenShift && !isAzure) return null
  const last = isAzure ? azureEnd(bytes, end + 1) : runEnd(bytes, end + 1)
  const isWhole = last - end > 31 && hasRandomSegment(bytes, end + 1, last, 8, 40)
  return isWhole || (isCut && last === bytes.length) ? { start: from, end: last } : null
}

/** Past runs that dots and tildes join: a secret of Azure's has 40 characters. */
function azureEnd(bytes: Uint8Array, start: number): number {
  let at = runEnd(bytes, start)
  while ((bytes[at] === dot || bytes[at] === tilde) && at - start < 40) {
    const next = runEnd(bytes, at + 1)
    if (next === at + 1) break
    at = next
  }
  return at
}

/** Whether what stands before is written as an escape: `\n`, `%20`, `\u000a`. */
function followsEscape(bytes: Uint8Array, start: number): boolean {
  return bytes[start - 2] === backslash || bytes[start - 3] === percent || bytes[start - 6] === backslash
}

/** `id.time.signature` of Discord, `id.secret` of Zhipu and Airtable; of what a cut left, the last part may be short. */
function keyInParts(bytes: Uint8Array, from: number, end: number, isCut: boolean): SecretRange | null {
  const length = end - from
  if (length === 17 && standsAt(bytes, airtable, from, end)) {
    const last = runEnd(bytes, end + 1)
    return last - end > 64 || (isCut && last === bytes.length) ? { start: from, end: last } : null
  }
  if (length < 23 || length > 32 || !hasRandomSegment(bytes, from, end, 20, 33)) return null
  const second = runEnd(bytes, end + 1)
  const isCutHere = isCut && second === bytes.length
  if (length === 32) {
    const isSecret = isCutHere || (second - end - 1 >= 16 && hasRandomSegment(bytes, end + 1, second, 16, 17))
    return isSecret ? { start: from, end: second } : null
  }
  if (isCutHere) return { start: from, end: second }
  if (bytes[second] !== dot || second - end < 6 || second - end > 8) return null
  const third = runEnd(bytes, second + 1)
  return third - second > 25 || (isCut && third === bytes.length) ? { start: from, end: third } : null
}

/** `https://user:password@host`, and a token in the user's place. */
function urlUser(bytes: Uint8Array, schemeEnd: number, isCut: boolean): SecretRange | null {
  let start = schemeEnd + 1
  for (let slashes = 0; slashes < 2; slashes++) {
    if (bytes[start] === backslash) start++
    if (bytes[start] !== slash) return null
    start++
  }
  let end = start
  let lastAt = -1
  let firstColon = -1
  for (; end < bytes.length && endsUser[bytes[end] ?? 0] === 0; end++) {
    if (bytes[end] === atSign) lastAt = end
    else if (bytes[end] === colon && firstColon < 0) firstColon = end
  }
  if (lastAt < 0) {
    // A port has digits only.
    const isPassword =
      isCut && end === bytes.length && firstColon >= 0 && !isNumber(bytes, firstColon + 1, end)
    return isPassword ? { start, end } : null
  }
  if (firstColon < 0 || firstColon > lastAt) {
    return hasRandomSegment(bytes, start, lastAt, 8, 20) ? { start, end: lastAt } : null
  }
  return lastAt === start ? null : { start, end: lastAt }
}

function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (byteClasses[bytes[at] ?? 0] !== byteClass.digit) return false
  return true
}

/** `123456789:AA…` of Telegram, also behind `bot` in a path. */
function botToken(bytes: Uint8Array, from: number, end: number, isCut: boolean): SecretRange | null {
  let start = end
  while (start > from && end - start < 12 && byteClasses[bytes[start - 1] ?? 0] === byteClass.digit) start--
  if (end - start < 8) return null
  const tokenEnd = runEnd(bytes, end + 1)
  if (isCut && tokenEnd === bytes.length && bytes[end + 1] === 0x41) return { start, end: tokenEnd }
  return tokenEnd - end > 30 && hasRandomSegment(bytes, end + 1, tokenEnd, 8, 60)
    ? { start, end: tokenEnd }
    : null
}

/** `hooks.slack.com/services/T…/B…/…`, `discord.com/api/webhooks/…/…` */
function webhook(bytes: Uint8Array, from: number, end: number, isCut: boolean): SecretRange | null {
  const isSlack = announcedWord(bytes, from, end, 'services') && bytes[end + 1] === 0x54
  const isDiscord =
    announcedWord(bytes, from, end, 'webhooks') && byteClasses[bytes[end + 1] ?? 0] === byteClass.digit
  if (!isSlack && !isDiscord) return null
  let last = end
  let parts = 0
  while (bytes[last] === slash) {
    last = runEnd(bytes, last + 1)
    parts++
  }
  const isWhole = parts >= 2 && last - end > 30
  return isWhole || (isCut && last === bytes.length) ? { start: end + 1, end: last } : null
}

/** A private key in PEM, with the lines around it; without its last line, as far as it goes. */
function pem(bytes: Buffer, from: number, end: number): SecretRange | null {
  if (!standsAt(bytes, pemBegin, end - pemBegin.length, end) || end - pemBegin.length < from - 1) return null
  const label = bytes.subarray(end, end + longestPemLabel)
  const labelEnd = label.indexOf(dashes)
  if (labelEnd < 0 || label.subarray(0, labelEnd).indexOf(privateKey) < 0) return null
  const start = end + labelEnd + dashes.length
  let last = start
  while (last < bytes.length && inPem[bytes[last] ?? 0] === 1) last++
  const closing = bytes.subarray(start, last).indexOf(pemEnd)
  return { start, end: closing < 0 ? withoutBackslash(bytes, last) : start + closing }
}

/** A backslash that belongs to what follows stays with it. */
function withoutBackslash(bytes: Uint8Array, end: number): number {
  let at = end
  while (bytes[at - 1] === backslash) at--
  return at
}

/** `Basic …`, where what follows is a name and a password. */
function basicCredentials(bytes: Buffer, from: number, end: number): SecretRange | null {
  if (end - from !== 5 || !announcedWord(bytes, from, end, 'basic')) return null
  const start = end + 1
  let last = start
  while ((byteClasses[bytes[last] ?? 0] ?? 0) !== 0 || bytes[last] === 0x2b || bytes[last] === slash) last++
  while (bytes[last] === 0x3d) last++
  if (last - start < 8) return null
  const said = Buffer.from(bytes.toString('latin1', start, Math.min(last, start + 512)), 'base64').toString(
    'latin1',
  )
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(said) ? { start, end: last } : null
}

/** `curl -u name:password` */
function userOption(bytes: Uint8Array, from: number, end: number): SecretRange | null {
  const length = end - from
  const isShort = length === 2 && bytes[from] === 0x2d && bytes[from + 1] === 0x75
  if (!isShort && !(length === 6 && announcedWord(bytes, from, end, '--user'))) return null
  let last = end + 1
  let firstColon = -1
  for (; last < bytes.length && endsUser[bytes[last] ?? 0] === 0; last++) {
    if (bytes[last] === colon && firstColon < 0) firstColon = last
  }
  if (firstColon < 0 || last - firstColon < 4 || isNumber(bytes, firstColon + 1, last)) return null
  return { start: firstColon + 1, end: last }
}
