import { type ContentCoding, contentCoding } from '../../lib/content-coding.ts'
import { listTokens } from '../../lib/header-list.ts'

/** A body whose content codings have been undone as far as it goes. */
export interface Decoded {
  readonly bytes: Buffer
  /** Whether more would have come of it. */
  readonly isCut: boolean
}

/** Nobody codes more often than this; a client that says so wants to cost time. */
const mostCodings = 3

/**
 * Undoes the codings that a `Content-Encoding` names, up to so many bytes. Null where one is not known or the
 * bytes are not in it: what is inside cannot be told then.
 */
export function undoCodings(bytes: Buffer, contentEncoding: string, maxBytes: number): Decoded | null {
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

/** Of a body that decodes to too much: the result of the longest beginning that does not, found by halving. */
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
