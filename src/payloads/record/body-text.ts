import { isUtf8 } from 'node:buffer'
import { type ContentCoding, contentCoding } from '../../lib/http/content-coding.ts'
import { listTokens } from '../../lib/http/header-list.ts'
import { maskKeyBytes } from '../../secrets/key-shapes.ts'
import type { RawBody } from './raw-payload.ts'

/** A body as the log shows it: decoded, and without credentials. */
export interface BodyText {
  /** JSON text of the record's `body`. */
  readonly json: string
  readonly encoding: 'base64' | null
  readonly withheld: string | null
  readonly truncated: boolean
  /** The text before and after masking; null for JSON, and for bytes that are no text. */
  readonly text: { readonly raw: string; readonly masked: string } | null
}

/** The headers that say how to read a body. */
export interface BodyReading {
  readonly contentEncoding: string | null
  readonly maxBytes: number
  /** True if the sender stopped before the end. */
  readonly isCutOff: boolean
  /** True for a stream: its text is needed, too. */
  readonly isStream: boolean
}

/** Deepest nesting that is kept as JSON. Deeper JSON becomes text, because many programs could not read it. */
const deepestJson = 200

/** Converts a body for a record: to JSON as it was written, else to text, else to base64. Never throws. */
export function readBody(body: RawBody, reading: BodyReading): BodyText {
  const input = body.bytes
  if (input.length === 0) {
    return { json: 'null', encoding: null, withheld: null, truncated: body.truncated, text: null }
  }
  const decoded =
    reading.contentEncoding === null
      ? { bytes: input, isCut: false }
      : (undoCodings(input, reading.contentEncoding, reading.maxBytes) ??
        // Some faulty proxies announce a coding for plain text.
        (isUtf8(input) ? { bytes: input, isCut: false } : null))
  if (decoded === null) {
    return withheld('its content coding could not be decoded, so its content is unknown', body.truncated)
  }
  const truncated = body.truncated || decoded.isCut
  const isCut = truncated || reading.isCutOff
  const bytes = withoutMark(isCut ? withoutCutCharacter(decoded.bytes) : decoded.bytes)
  const shown = { withheld: null, truncated }
  if (hidesKey(bytes)) return withheld('a credential is in it, in a two-byte character encoding', truncated)
  if (!isUtf8(bytes)) {
    const masked = maskKeyBytes(bytes, isCut)
    return { ...shown, json: `"${masked.toString('base64')}"`, encoding: 'base64', text: null }
  }
  const raw = bytes.toString()
  const isJson = !truncated && !reading.isStream && isJsonText(raw)
  const isOpen = !isJson && (isCut || (!reading.isStream && jsonBegin.test(raw)))
  const maskedBytes = maskKeyBytes(bytes, isOpen)
  const masked = maskedBytes === bytes ? raw : maskedBytes.toString()
  if (masked !== raw && raw.includes('"logprob"')) {
    // The log probabilities repeat the text token by token.
    return withheld('a credential was in it, and its pieces are in its log probabilities', truncated)
  }
  if (isJson && (masked === raw || isJsonText(masked))) {
    return { ...shown, json: onOneLine(masked), encoding: null, text: null }
  }
  return { ...shown, json: JSON.stringify(masked), encoding: null, text: { raw, masked } }
}

function withheld(why: string, truncated: boolean): BodyText {
  return { json: 'null', encoding: null, withheld: why, truncated, text: null }
}

/** True if text in UTF-16 or a similar encoding has a credential. */
function hidesKey(bytes: Buffer): boolean {
  if (!bytes.includes(0)) return false
  const narrow = Buffer.from(bytes.toString('latin1').replaceAll('\0', ''), 'latin1')
  const masked = maskKeyBytes(narrow)
  return masked !== narrow && maskKeyBytes(bytes) === bytes
}

/** The bytes without an incomplete last character. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  const shorter = [0, 1, 2, 3].map((back) => bytes.subarray(0, Math.max(0, bytes.length - back)))
  return shorter.find((part) => isUtf8(part)) ?? bytes
}

/** The bytes without a byte order mark. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** The beginning of JSON. A body that begins so and is no JSON was usually cut. */
const jsonBegin = /^[\0-\x20]{0,99}[[{]/

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  return text.length < 2 * deepestJson || depthOf(text) <= deepestJson
}

/** The depth of nesting of a valid JSON text. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const bracket of text.replaceAll(/\\./g, '').replaceAll(/"[^"]*"|[^[\]{}"]+/g, '')) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** JSON on one line. Strings of JSON have no raw line breaks, so replacing line breaks is safe. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json
}

/** A body after decoding, as far as possible. */
interface Decoded {
  readonly bytes: Buffer
  /** True if `bytes` is only the beginning of the decoded body. */
  readonly isCut: boolean
}

/** Most codings of a body. Only an attacker names more. */
const mostCodings = 3

/**
 * Decodes a body by its `Content-Encoding` (RFC 9110 §8.4), up to `maxBytes`. Null for an unknown coding, or
 * invalid bytes.
 */
function undoCodings(bytes: Buffer, contentEncoding: string, maxBytes: number): Decoded | null {
  const names = listTokens(contentEncoding).filter((name) => name !== 'identity')
  if (names.length > mostCodings) return null
  let decoded: Decoded = { bytes, isCut: false }
  for (const name of names.reverse()) {
    const coding = contentCoding(name)
    if (coding === null) return null
    const output = undoneOrTooMuch(coding, decoded.bytes, maxBytes)
    if (output === null) return null
    const next = output === 'too much' ? beginning(coding, decoded.bytes, maxBytes) : output
    decoded = { bytes: next.bytes, isCut: decoded.isCut || next.isCut }
  }
  return decoded
}

/** Decodes the longest beginning of a body within the limit, by binary search. */
function beginning(coding: ContentCoding, bytes: Buffer, maxBytes: number): Decoded {
  let best: Buffer = Buffer.alloc(0)
  let fits = 0
  let tooMuch = bytes.length
  while (tooMuch - fits > 1 && best.length < maxBytes / 2) {
    // A decompression bomb often grows a thousandfold, so the first steps divide by eight.
    const next = fits === 0 ? Math.ceil(tooMuch / 8) : (fits + tooMuch) >> 1
    if (next >= tooMuch) break
    const decoded = undoneOrTooMuch(coding, bytes.subarray(0, next), maxBytes)
    if (decoded === null) break
    if (decoded === 'too much') tooMuch = next
    else {
      fits = next
      best = decoded.bytes
    }
  }
  return { bytes: best, isCut: true }
}

function undoneOrTooMuch(
  coding: ContentCoding,
  bytes: Buffer,
  maxBytes: number,
): Decoded | 'too much' | null {
  if (bytes.length === 0) return { bytes, isCut: false }
  try {
    return { bytes: coding.decode(bytes, maxBytes), isCut: false }
  } catch (error) {
    return error instanceof RangeError ? 'too much' : null
  }
}
