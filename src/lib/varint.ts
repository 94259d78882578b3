/** Whole numbers from 0 to 2^53 in one byte for each seven bits, the lowest first (LEB128). */
export class VarintWriter {
  readonly #bytes: number[] = []

  write(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) + 128)
    this.#bytes.push(rest)
  }

  toBytes(): Uint8Array {
    return new Uint8Array(this.#bytes)
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
