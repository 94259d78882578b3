/** Bytes of 2^53, and more. */
const longestVarint = 8

/** Whole numbers from 0 to 2^53 in one byte for each seven bits, the lowest first (LEB128). */
export class VarintWriter {
  #bytes = new Uint8Array(256)
  #length = 0
  /** Of the byte that is begun. */
  #bits = 0
  #bitCount = 0

  write(value: number): void {
    this.#makeRoom()
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) + 128
    this.#bytes[this.#length++] = rest
  }

  /**
   * A number from 1 to 2^31 - 1 in Elias's gamma code (Elias, IEEE Trans. Inf. Theory 21, 1975): as many zeros as bits follow its
   * first one, then its bits, the highest first.
   */
  writeGamma(value: number): void {
    const more = 31 - Math.clz32(value)
    this.#writeBits(0, more)
    this.#writeBits(value, more + 1)
  }

  /** Ends a run of gamma codes: what comes begins with a byte. */
  endBits(): void {
    if (this.#bitCount > 0) this.#writeBits(0, 8 - this.#bitCount)
  }

  #writeBits(value: number, count: number): void {
    for (let left = count; left > 0;) {
      const taken = Math.min(left, 8 - this.#bitCount)
      left -= taken
      this.#bits = (this.#bits << taken) | ((value >>> left) & ((1 << taken) - 1))
      this.#bitCount += taken
      if (this.#bitCount < 8) return
      this.#makeRoom()
      this.#bytes[this.#length++] = this.#bits
      this.#bits = 0
      this.#bitCount = 0
    }
  }

  #makeRoom(): void {
    if (this.#length + longestVarint <= this.#bytes.length) return
    const larger = new Uint8Array(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  clear(): void {
    this.#length = 0
    this.#bits = 0
    this.#bitCount = 0
  }

  /** A copy. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
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

  /** Reads so many pairs of numbers in gamma code into `into`, and goes on with the next byte. */
  readGammaPairs(count: number, into: Int32Array): void {
    const { bytes } = this
    if (2 * count > into.length) throw new RangeError('more numbers than there can be')
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const lastWhole = bytes.length - 4
    let bit = 8 * this.at
    for (let i = 0; i < 2 * count; i += 2) {
      const at = bit >>> 3
      if (at <= lastWhole) {
        // Both within the 25 bits that are there for sure, as nearly all are.
        const ahead = view.getUint32(at) << (bit & 7)
        const more = Math.clz32(ahead)
        const rest = ahead << (2 * more + 1)
        const moreOfRest = Math.clz32(rest)
        if (more + moreOfRest <= 11) {
          into[i] = ahead >>> (31 - 2 * more)
          into[i + 1] = rest >>> (31 - 2 * moreOfRest)
          bit += 2 * (more + moreOfRest + 1)
          continue
        }
      }
      for (let place = i; place < i + 2; place++) {
        const more = Math.clz32(bitsAt(bytes, bit))
        if (more > 30) throw new RangeError('a number is cut short')
        into[place] = bitsAt(bytes, bit + more) >>> (31 - more)
        bit += 2 * more + 1
      }
    }
    if (bit > 8 * bytes.length) throw new RangeError('a number is cut short')
    this.at = Math.ceil(bit / 8)
  }
}

/** The 32 bits from one on; zeros beyond the end. */
function bitsAt(bytes: Uint8Array, bit: number): number {
  const at = bit >>> 3
  const shift = bit & 7
  const first =
    ((bytes[at] ?? 0) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  return shift === 0 ? first >>> 0 : ((first << shift) | ((bytes[at + 4] ?? 0) >>> (8 - shift))) >>> 0
}
