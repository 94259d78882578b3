/** Most bytes of a number up to 2^53. */
const longestVarint = 8

/** Writes whole numbers from 0 to 2^53 with a byte for each seven bits, lowest first (LEB128). */
export class VarintWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  write(value: number): void {
    this.#makeRoom()
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128
    this.#bytes[this.#length++] = rest
  }

  #makeRoom(): void {
    if (this.#length + longestVarint <= this.#bytes.length) return
    const larger = new Uint8Array(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  clear(): void {
    this.#length = 0
  }

  /** A copy of the written bytes. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }
}

/** Reads the numbers of a {@link VarintWriter}. Throws a `RangeError` if the bytes end too early. */
export class VarintReader {
  readonly bytes: Uint8Array
  /** The offset of the next number. */
  at: number = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length
  }

  /** Reads a number; most have a single byte. */
  read(): number {
    const byte = this.bytes[this.at] ?? 128
    if (byte >= 128) return this.#readLong()
    this.at += 1
    return byte
  }

  #readLong(): number {
    const { bytes } = this
    let value = 0
    // The high bit of a byte that is not the last adds 128, which equals one of the next byte.
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[this.at++]
      if (byte === undefined) throw new RangeError('a number is cut short')
      value += byte * factor
      if (byte < 128) return value
      value -= 128 * factor
    }
  }
}
