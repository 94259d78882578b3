/** The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding), as far as spans need it. */

/** Bytes that a whole number of at least 0 takes. */
export function varintLength(value: number): number {
  let length = 1
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) length++
  return length
}

/** Writes a whole number of at least 0; answers where it ends. */
export function writeVarint(bytes: Uint8Array, value: number, at: number): number {
  let [left, next] = [value, at]
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes[next++] = (left % 0x80) | 0x80
  bytes[next] = left
  return next + 1
}

/** What stands before the bytes of a field. */
export function fieldHead(tag: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(1 + varintLength(length))
  head[0] = tag
  writeVarint(head, length, 1)
  return head
}

/** A field that holds bytes, a text or a message. */
export function field(tag: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  return Buffer.concat([fieldHead(tag, content.length), content])
}

export interface ReadField {
  readonly number: number
  /** Of a whole number; 0 for any other. */
  readonly value: number
  /** Of a text or a message; empty for any other. */
  readonly content: Buffer
}

/** The fields of a message. Throws if it is cut off. */
export function* readFields(bytes: Buffer): Generator<ReadField> {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes.readUInt8(at++)
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const [number, wireType] = [Math.floor(key / 8), key % 8]
    const value = wireType === 0 ? varint() : 0
    const length = wireType === 2 ? varint() : wireType === 1 ? 8 : wireType === 5 ? 4 : 0
    if (at + length > bytes.length) throw new RangeError('a field is cut off')
    yield { number, value, content: wireType === 2 ? bytes.subarray(at, at + length) : Buffer.alloc(0) }
    at += length
  }
}
