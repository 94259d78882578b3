import zlib from 'node:zlib'
import type { Transform } from 'node:stream'
import { ZstdFrames, decodeZstd } from './zstd-frames.ts'

/** The decoder of a content coding (RFC 9110 §8.4.1). Truncated input is decoded as far as it goes, without an error. */
export interface ContentCoding {
  /** A decoding stream; `first` is the first byte of its input. */
  readonly stream: (first: number) => Transform
  /** Decodes synchronously. Throws zlib's error for bad input, and for more than `maxBytes` of output. */
  readonly decode: (bytes: Buffer, maxBytes: number) => Buffer
}

const flush = { finishFlush: zlib.constants.Z_SYNC_FLUSH }
const brotliFlush = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }
/** zstd with a window of at most 8 MB, the limit for content codings (RFC 9659). A frame could ask for 128 MB. */
const zstdFlush = {
  finishFlush: zlib.constants.ZSTD_e_flush,
  params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 },
}

const gzip: ContentCoding = {
  stream: () => zlib.createGunzip(flush),
  decode: (bytes, maxOutputLength) => zlib.gunzipSync(bytes, { ...flush, maxOutputLength }),
}

const codings: Readonly<Record<string, ContentCoding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    stream: (first) => (hasZlibHeader(first) ? zlib.createInflate(flush) : zlib.createInflateRaw(flush)),
    decode: (bytes, maxOutputLength) => {
      const inflate = hasZlibHeader(bytes[0] ?? 0) ? zlib.inflateSync : zlib.inflateRawSync
      return inflate(bytes, { ...flush, maxOutputLength })
    },
  },
  br: {
    stream: () => zlib.createBrotliDecompress(brotliFlush),
    decode: (bytes, maxOutputLength) => zlib.brotliDecompressSync(bytes, { ...brotliFlush, maxOutputLength }),
  },
  zstd: {
    stream: () => new ZstdFrames(zstdFlush),
    decode: (bytes, maxOutputLength) => decodeZstd(bytes, maxOutputLength, zstdFlush),
  },
}

/**
 * Most bytes to which a body may decode; beyond it, the body counts as a bomb. Events with very repetitive text
 * grow by a factor of 200.
 */
export function mostDecodedBytes(encodedBytes: number): number {
  return Math.max(2 * 1024 * 1024, 300 * encodedBytes)
}

/** The decoder for a single coding in lower case; `null` if the coding is unknown. */
export function contentCoding(name: string): ContentCoding | null {
  return Object.hasOwn(codings, name) ? (codings[name] ?? null) : null
}

/**
 * True if data begins with a zlib header, which some servers omit: the low half of the first byte is the
 * method, 8 (RFC 1950 §2.2).
 */
function hasZlibHeader(first: number): boolean {
  return (first & 0x0f) === 8
}
