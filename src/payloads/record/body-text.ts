import { isUtf8 } from 'node:buffer'
import { type ContentCoding, contentCoding } from '../../lib/http/content-coding.ts'
import { listTokens } from '../../lib/http/header-list.ts'
import { maskKeyBytes } from '../../secrets/key-shapes.ts'
import type { RawBody } from './raw-payload.ts'

/** A body as it can be shown: decoded, and without credentials. */
export interface BodyText {
  /** JSON text of the record's `body`. */
  readonly json: string
  readonly encoding: 'base64' | null
  readonly withheld: string | null
  readonly truncated: boolean
  /** The text before and after credentials were masked; null where it is none, or is JSON. */
  readonly text: { readonly raw: string; readonly masked: string } | null
}

/** The headers that say how to read a body. */
export interface BodyReading {
  readonly contentEncoding: string | null
  readonly maxBytes: number
  /** True if the sender stopped in the middle. */
  readonly isCutOff: boolean
  /** True if the text is wanted, too: of streams. */
  readonly isStream: boolean
}

/** Deeper JSON is kept as text, as many a program that reads the log could not read it. */
const deepestJson = 200

/** The kept form of a body: JSON as it was written, else its text, else base64. Never throws. */
export function readBody(body: RawBody, reading: BodyReading): BodyText {
  const kept = body.bytes
  if (kept.length === 0) {
    return { json: 'null', encoding: null, withheld: null, truncated: body.truncated, text: null }
  }
  const decoded =
    reading.contentEncoding === null
      ? { bytes: kept, isCut: false }
      : (undoCodings(kept, reading.contentEncoding, reading.maxBytes) ??
        // Said to be coded, and plain all the same: seen of servers behind a faulty proxy.
        (isUtf8(kept) ? { bytes: kept, isCut: false } : null))
  if (decoded === null) {
    return withheld(
      'its content coding could not be undone, so that nobody can tell what is in it',
      body.truncated,
    )
  }
  const truncated = body.truncated || decoded.isCut
  const isCut = truncated || reading.isCutOff
  const bytes = withoutMark(isCut ? withoutCutCharacter(decoded.bytes) : decoded.bytes)
  const shown = { withheld: null, truncated }
  if (hidesKey(bytes))
    return withheld('a credential is in it, in a coding of two bytes a character', truncated)
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
    // Token by token, once more.
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

/** True if there is a credential in what is UTF-16, or the like, in the whole or in parts. */
function hidesKey(bytes: Buffer): boolean {
  if (!bytes.includes(0)) return false
  const narrow = Buffer.from(bytes.toString('latin1').replaceAll('\0', ''), 'latin1')
  const found = maskKeyBytes(narrow)
  return found !== narrow && maskKeyBytes(bytes) === bytes
}

/** Without the last character where its bytes are not all there. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  const shorter = [0, 1, 2, 3].map((back) => bytes.subarray(0, Math.max(0, bytes.length - back)))
  return shorter.find((one) => isUtf8(one)) ?? bytes
}

/** Without a byte order mark, which is no part of the text. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** A body that begins as JSON and is none was broken off, as a rule. */
const jsonBegin = /^[\0-\x20]{0,99}[[{]/

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  return text.length < 2 * deepestJson || depthOf(text) <= deepestJson
}

/** How deep the brackets of a valid JSON text go. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const bracket of text.replaceAll(/\\./g, '').replaceAll(/"[^"]*"|[^[\]{}"]+/g, '')) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** Within strings of JSON no line break is raw. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json
}

/** A body whose content codings have been undone as far as it goes. */
interface Decoded {
  readonly bytes: Buffer
  /** True if more would have come of it. */
  readonly isCut: boolean
}

/** Nobody codes more often than this; a client that says so wants to cost time. */
const mostCodings = 3

/**
 * Undoes the codings that a `Content-Encoding` names, up to so many bytes. Null where one is not known or the
 * bytes are not in it: what is inside cannot be told then.
 */
function undoCodings(bytes: Buffer, contentEncoding: string, maxBytes: number): Decoded | null {
  const names = listTokens(contentEncoding).filter((name) => name !== 'identity')
  if (names.length > mostCodings) return null
  let decoded: Decoded = { bytes, isCut: false }
  for (const name of names.reverse()) {
    const coding = contentCoding(name)
    if (coding === null) return null
    const whole = undoneOrTooMuch(coding, decoded.bytes, maxBytes)
    if (whole === null) return null
    const next = whole === 'too much' ? beginning(coding, decoded.bytes, maxBytes) : whole
    decoded = { bytes: next.bytes, isCut: decoded.isCut || next.isCut }
  }
  return decoded
}

/** Decodes the longest beginning of a body that stays within the limit, found by halving. */
function beginning(coding: ContentCoding, bytes: Buffer, maxBytes: number): Decoded {
  let best: Buffer = Buffer.alloc(0)
  let fits = 0
  let tooMuch = bytes.length
  while (tooMuch - fits > 1 && best.length < maxBytes / 2) {
    // Growth of a thousand is common in a bomb: halving the length itself would come down to it slowly.
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
    return { bytes: coding.whole(bytes, maxBytes), isCut: false }
  } catch (error) {
    return error instanceof RangeError ? 'too much' : null
  }
}
