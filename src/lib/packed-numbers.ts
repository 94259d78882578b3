/** Bytes of 2^53, and more. */
const longestVarint = 8

/** Whole numbers from 0 to 2^53 in one byte for each seven bits, the lowest first (LEB128). */
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

  /** A copy. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }
}

/** Reads the numbers of a {@link VarintWriter}. Throws a `RangeError` where the bytes end too early. */
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

  /** Most numbers have one byte. */
  read(): number {
    const byte = this.bytes[this.at] ?? 128
    if (byte >= 128) return this.#readLong()
    this.at += 1
    return byte
  }

  #readLong(): number {
    const { bytes } = this
    let value = 0
    // A byte that is not the last one counts 128 too many, which is one too many of the next.
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[this.at++]
      if (byte === undefined) throw new RangeError('a number is cut short')
      value += byte * factor
      if (byte < 128) return value
      value -= 128 * factor
    }
  }
}
