/** Bytes of 2^53. */
const longest = 8

/** Whole numbers from 0 to 2^53 in one byte for each seven bits, the lowest first (LEB128). */
export class VarintWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  write(value: number): void {
    if (this.#length + longest > this.#bytes.length) this.#grow()
    const bytes = this.#bytes
    let rest = value
    while (rest >= 128) {
      bytes[this.#length++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    bytes[this.#length++] = rest
  }

  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #grow(): void {
    const wider = new Uint8Array(2 * this.#bytes.length)
    wider.set(this.#bytes)
    this.#bytes = wider
  }
}

/** Reads what a {@link VarintWriter} wrote. Throws a `RangeError` where the bytes end too early. */
export class VarintReader {
  readonly bytes: Uint8Array
  /** Where the next number begins: a loop that reads a great many moves it on by itself. */
  at: number = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length
  }

  read(): number {
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
