import { Transform, type TransformCallback } from 'node:stream'
import zlib, { type ZstdOptions } from 'node:zlib'

/** Most frames of a body, because each needs a separate decoder. */
const mostFrames = 1000

type Decoder = Transform & { readonly bytesWritten: number }

/** Decodes zstd frames in a row (RFC 8878 §3.1). Node's own decoder stops after the first frame of a chunk. */
export class ZstdFrames extends Transform {
  readonly #options: ZstdOptions
  #decoder: Decoder
  #frames = 0
  /** Number of encoded bytes that were read. */
  bytesWritten = 0

  constructor(options: ZstdOptions) {
    super()
    this.#options = options
    this.#decoder = this.#open()
  }

  #open(): Decoder {
    this.#frames++
    const decoder = zlib.createZstdDecompress(this.#options) as Decoder
    decoder.on('data', (decoded: Buffer) => this.push(decoded))
    decoder.on('error', (error) => this.destroy(error))
    return decoder
  }

  override _transform(chunk: Buffer, encoding: BufferEncoding, done: TransformCallback): void {
    const decoder = this.#decoder
    const before = decoder.bytesWritten
    decoder.write(chunk, () => {
      const read = decoder.bytesWritten - before
      this.bytesWritten += read
      if (read === chunk.length || this.destroyed) done()
      else if (this.#frames === mostFrames) done(new RangeError('There are too many frames.'))
      else {
        decoder.destroy()
        this.#decoder = this.#open()
        this._transform(chunk.subarray(read), encoding, done)
      }
    })
  }

  override _flush(done: TransformCallback): void {
    if (this.#decoder.readableEnded) done()
    else this.#decoder.once('end', done).end()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#decoder.destroy()
    done(error)
  }
}

/** Decodes all frames synchronously. Throws for bad input, and for more than `maxOutputLength` bytes. */
export function decodeZstd(bytes: Buffer, maxOutputLength: number, options: ZstdOptions): Buffer {
  const pieces: Buffer[] = []
  let room = maxOutputLength
  for (let rest = bytes; rest.length > 0;) {
    const { buffer, engine } = zlib.zstdDecompressSync(rest, {
      ...options,
      maxOutputLength: Math.max(1, room),
      info: true,
    }) as unknown as { readonly buffer: Buffer; readonly engine: Decoder }
    pieces.push(buffer)
    room -= buffer.length
    if (room < 0 || engine.bytesWritten === 0 || pieces.length > mostFrames)
      throw new RangeError('The decoded body is too large.')
    rest = rest.subarray(engine.bytesWritten)
  }
  return pieces.length === 1 ? (pieces[0] ?? bytes) : Buffer.concat(pieces)
}
