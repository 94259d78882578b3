/** Bytes of memory that a cleared gather keeps at most. */
const keptCapacity = 4096
/** Bytes of memory at first. */
const firstCapacity = 256

export const noBytes: Buffer = Buffer.alloc(0)

/** Gathers bytes from pieces of chunks. The bytes are copied, so that no chunk stays in memory. */
export class ByteGather {
  #bytes: Buffer | null = null
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The memory; the gathered bytes are `[0, length)`. Valid until the next `append` or `clear`. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.allocUnsafeSlow(firstCapacity))
  }

  /** The gathered bytes. Valid until the next `append` or `clear`. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.#length)
  }

  /** Bytes of allocated memory. */
  get capacity(): number {
    return this.#bytes?.length ?? 0
  }

  append(bytes: Buffer, start: number = 0, end: number = bytes.length): void {
    const needed = this.#length + end - start
    if (needed > this.bytes.length) this.#grow(needed)
    bytes.copy(this.bytes, this.#length, start, end)
    this.#length = needed
  }

  clear(): void {
    this.#length = 0
    if (this.#bytes !== null && this.#bytes.length > keptCapacity) this.#bytes = null
  }

  /** Clears, and frees the memory. */
  release(): void {
    this.#length = 0
    this.#bytes = null
  }

  #grow(needed: number): void {
    let capacity = this.bytes.length
    while (capacity < needed) capacity *= 2
    const larger = Buffer.allocUnsafeSlow(capacity)
    this.bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** The same bytes as a Buffer, without a copy. A Buffer's searches are native and fast. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The parts in a new buffer, which can be transferred to another thread. */
export function joined(parts: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
