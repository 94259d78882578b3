import zlib from 'node:zlib'

const flush = zlib.constants.Z_SYNC_FLUSH
const brotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }

/** One way to code an answer. */
export interface TestedCoding {
  readonly name: string
  /** As `Content-Encoding` says it. */
  readonly header: string
  readonly encode: (bytes: Uint8Array) => Buffer
  /** Codes piece by piece, each as soon as it is given, as a server does that flushes its events. */
  readonly encodeEach: (pieces: readonly Uint8Array[]) => Promise<Buffer[]>
}

/** Every coding that the gateway lets clients ask for. */
export const testedCodings: readonly TestedCoding[] = [
  coding('gzip', 'gzip', zlib.gzipSync, () => zlib.createGzip(), flush),
  coding('gzip by its old name', 'X-GZip', zlib.gzipSync, () => zlib.createGzip(), flush),
  coding('deflate', 'deflate', zlib.deflateSync, () => zlib.createDeflate(), flush),
  coding('deflate without its head', 'deflate', zlib.deflateRawSync, () => zlib.createDeflateRaw(), flush),
  coding(
    'br',
    'br',
    (bytes) => zlib.brotliCompressSync(bytes, brotli),
    () => zlib.createBrotliCompress(brotli),
    zlib.constants.BROTLI_OPERATION_FLUSH,
  ),
  coding('zstd', 'zstd', zlib.zstdCompressSync, () => zlib.createZstdCompress(), zlib.constants.ZSTD_e_flush),
  {
    name: 'zstd, in frames',
    header: 'zstd',
    encode: (bytes) => {
      const half = bytes.length >> 1
      return Buffer.concat(
        [bytes.subarray(0, half), bytes.subarray(half)].map((part) => zlib.zstdCompressSync(part)),
      )
    },
    encodeEach: (pieces) => Promise.resolve(pieces.map((piece) => zlib.zstdCompressSync(piece))),
  },
]

function coding(
  name: string,
  header: string,
  encode: (bytes: Uint8Array) => Buffer,
  open: () => zlib.Gzip | zlib.Deflate | zlib.BrotliCompress | zlib.ZstdCompress,
  flushKind: number,
): TestedCoding {
  const encodeEach = async (pieces: readonly Uint8Array[]): Promise<Buffer[]> => {
    const stream = open()
    const encoded: Buffer[] = []
    let parts: Buffer[] = []
    stream.on('data', (part: Buffer) => parts.push(part))
    for (const piece of pieces) {
      stream.write(piece)
      await new Promise<void>((resolve) => {
        stream.flush(flushKind, resolve)
      })
      encoded.push(Buffer.concat(parts))
      parts = []
    }
    const ended = new Promise((resolve) => stream.once('end', resolve))
    stream.end()
    await ended
    return [...encoded, Buffer.concat(parts)]
  }
  return { name, header, encode, encodeEach }
}

/** A body of so many zeros; one megabyte after the other, so that none of it is ever whole in memory. */
export async function zeros(coding: TestedCoding, megabytes: number): Promise<Buffer> {
  const megabyte = Buffer.alloc(1_000_000)
  return Buffer.concat(await coding.encodeEach(Array.from({ length: megabytes }, () => megabyte)))
}
