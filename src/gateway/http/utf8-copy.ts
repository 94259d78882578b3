import { noBytes } from '../../lib/byte-gather.ts'

/** Bytes of a unit, and whether its low byte comes first. */
interface Encoding {
  readonly width: 1 | 2 | 4
  readonly isLittle: boolean
}

const utf8: Encoding = { width: 1, isLittle: true }
const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf])

/** The encoding of JSON by its first bytes (RFC 4627 §3, and byte order marks). Python, for one, reads all of these. */
function encodingOf([a = 0, b = 0, c = 0, d = 0]: Uint8Array): Encoding {
  if (a === 0xff && b === 0xfe) return { width: c === 0 && d === 0 ? 4 : 2, isLittle: true }
  if (a === 0xfe && b === 0xff) return { width: 2, isLittle: false }
  if (a === 0) return { width: b === 0 ? 4 : 2, isLittle: false }
  if (b === 0) return { width: c === 0 && d === 0 ? 4 : 2, isLittle: true }
  return utf8
}

/** Converts a text in any of these encodings to UTF-8. UTF-8 passes unchanged. */
export class Utf8Copy {
  #encoding: Encoding | null = null
  /** Bytes that are too few to decode: of the text's beginning, or of a unit. */
  #undecoded: Buffer = noBytes
  /** Bytes of the byte order mark, which is dropped. */
  markBytes = 0

  /** True if the text stays byte for byte. */
  get isSame(): boolean {
    return this.#encoding === null || this.#encoding.width === 1
  }

  /** Converts the next piece. */
  take(chunk: Uint8Array): Uint8Array {
    if (this.#encoding?.width === 1) return chunk
    const bytes = this.#undecoded.length === 0 ? chunk : Buffer.concat([this.#undecoded, chunk])
    if (this.#encoding !== null || bytes.length >= 4) return this.#convert(bytes)
    this.#undecoded = Buffer.from(bytes)
    return noBytes
  }

  /** Ends the text: the held bytes are its end. */
  end(): Uint8Array {
    return this.#encoding === null && this.#undecoded.length > 0 ? this.#convert(this.#undecoded) : noBytes
  }

  #convert(bytes: Uint8Array): Uint8Array {
    const encoding = (this.#encoding ??= encodingOf(bytes))
    const { width, isLittle } = encoding
    if (width === 1) {
      this.#undecoded = noBytes
      if (bytes[0] === utf8Mark[0] && utf8Mark.equals(bytes.subarray(0, 3))) this.markBytes = 3
      return this.markBytes === 0 ? bytes : bytes.subarray(3)
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const end = bytes.length - (bytes.length % width)
    let text = ''
    for (let at = 0; at < end; at += width) {
      const unit = width === 2 ? view.getUint16(at, isLittle) : view.getUint32(at, isLittle)
      if (unit !== 0xfeff) text += unit > 0x10ffff ? '\ufffd' : String.fromCodePoint(unit)
    }
    this.#undecoded = Buffer.from(bytes.subarray(end))
    return Buffer.from(text)
  }
}
