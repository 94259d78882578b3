import zlib from 'node:zlib'
import { listTokens } from '../../lib/header-list.ts'

/** A body whose content codings have been undone as far as it goes. */
export interface Decoded {
  readonly bytes: Buffer
  /** Whether more would have come of it. */
  readonly isCut: boolean
}

type Undo = (bytes: Buffer, maxOutputLength: number) => Buffer

/** Input that ends early is no error: what came is decoded. */
const flush = { finishFlush: zlib.constants.Z_SYNC_FLUSH }
const brotliFlush = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }
/** A frame may ask for a window of up to 128 MB; no content coding needs more than 8 MB (RFC 9659). */
const zstdFlush = {
  finishFlush: zlib.constants.ZSTD_e_flush,
  params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 },
}
const gunzip: Undo = (bytes, maxOutputLength) => zlib.gunzipSync(bytes, { ...flush, maxOutputLength })

const undoing: ReadonlyMap<string, Undo> = new Map<string, Undo>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  [
    'deflate',
    (bytes, maxOutputLength) => {
      // Some servers leave the header out, whose low half byte is 8 (RFC 1950 §2.2).
      const inflate = ((bytes[0] ?? 0) & 0x0f) === 8 ? zlib.inflateSync : zlib.inflateRawSync
      return inflate(bytes, { ...flush, maxOutputLength })
    },
  ],
  ['br', (bytes, maxOutputLength) => zlib.brotliDecompressSync(bytes, { ...brotliFlush, maxOutputLength })],
  ['zstd', (bytes, maxOutputLength) => zlib.zstdDecompressSync(bytes, { ...zstdFlush, maxOutputLength })],
])
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
    const undo = undoing.get(name)
    if (undo === undefined) return null
    const whole = undoneOrTooMuch(undo, decoded.bytes, maxBytes)
    if (whole === null) return null
    const next = whole === 'too much' ? beginning(undo, decoded.bytes, maxBytes) : whole
    decoded = { bytes: next.bytes, isCut: decoded.isCut || next.isCut }
  }
  return decoded
}

/** Of a body that decodes to too much: the result of the longest beginning that does not, found by halving. */
function beginning(undo: Undo, bytes: Buffer, maxBytes: number): Decoded {
  let best: Buffer = Buffer.alloc(0)
  let fits = 0
  let tooMuch = bytes.length
  while (tooMuch - fits > 1 && best.length < maxBytes / 2) {
    // Growth of a thousand is common in a bomb: halving the length itself would come down to it slowly.
    const next = fits === 0 ? Math.ceil(tooMuch / 8) : (fits + tooMuch) >> 1
    if (next >= tooMuch) break
    const decoded = undoneOrTooMuch(undo, bytes.subarray(0, next), maxBytes)
    if (decoded === null) break
    if (decoded === 'too much') tooMuch = next
    else {
      fits = next
      best = decoded.bytes
    }
  }
  return { bytes: best, isCut: true }
}

function undoneOrTooMuch(undo: Undo, bytes: Buffer, maxBytes: number): Decoded | 'too much' | null {
  if (bytes.length === 0) return { bytes, isCut: false }
  try {
    return { bytes: undo(bytes, maxBytes), isCut: false }
  } catch (error) {
    return error instanceof RangeError ? 'too much' : null
  }
}
