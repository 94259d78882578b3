import { remembered } from '../lib/remembered.ts'
import type { CallSpan, SpanAttribute } from './call-span.ts'
import type { Acceptance, SpanBytes, SpanFormat, SpanSource } from './span-format.ts'

/** Tags of `opentelemetry.proto.trace.v1.Span`: a field's number and its wire type. */
const nameTag = 0x2a
const startTag = 0x39
const endTag = 0x41
const attributeTag = 0x4a
/** More than all of a span but its texts and its attributes takes. */
const fixedBytes = 128
/** Longer texts are not remembered: they do not repeat. */
const longestRemembered = 300
/** Pieces of attributes that are remembered, and how long each may be. */
const mostShared = 32
const longestShared = 4096

type Append = (span: CallSpan, to: SpanBytes) => void

/** Binary protobuf, the encoding that every receiver takes. */
export function protobufSpans(attributes: readonly SpanAttribute[], source: SpanSource): SpanFormat {
  const shared = attributes.filter(({ type }) => type === 'word' || type === 'list' || type === 'flag')
  const appendShared = sharedAppender(shared)
  const appendOwn = attributes.filter((attribute) => !shared.includes(attribute)).map(attributeAppender)
  const nameField = remembered((name) => field(nameTag, name), longestRemembered)
  const resource = Object.entries(source.resource).map(([name, value]) =>
    keyValue(0x0a, name, textValue(value)),
  )
  const resourceField = field(0x0a, ...resource)
  const scopeField = field(0x0a, field(0x0a, source.name), field(0x12, source.version))
  return {
    contentType: 'application/x-protobuf',
    append(span, to) {
      const start = to.length
      to.reserve(fixedBytes)
      const { bytes } = to
      const at = start + bytes.write(fixedHex(span), start, 'hex')
      to.length = writeTime(bytes, endTag, span.endUs, writeTime(bytes, startTag, span.startUs, at))
      to.append(nameField(span.name))
      appendShared(span, to)
      for (const append of appendOwn) append(span, to)
      putHeadBefore(start, to)
    },
    request(spans) {
      const scopeHead = fieldHead(0x12, scopeField.length + spans.length)
      const length = resourceField.length + scopeHead.length + scopeField.length + spans.length
      return [Buffer.concat([fieldHead(0x0a, length), resourceField, scopeHead, scopeField]), spans]
    },
    acceptance: readAcceptance,
  }
}

/** The fields of a few bytes each, as hexadecimal digits. */
function fixedHex({ traceId, spanId, parentSpanId, isFailed }: CallSpan): string {
  const ids = `0a10${traceId}1208${spanId}`
  const clientKind = '3003'
  const status = isFailed ? '7a021802' : ''
  // Flags: sampled, and that the parent is not elsewhere, or is.
  const parent = parentSpanId === null ? '850101010000' : `2208${parentSpanId}850101030000`
  return ids + clientKind + status + parent
}

/** In nanoseconds, as 64 bits: they are more than a number holds, and a BigInt takes longer. */
function writeTime(bytes: Buffer, tag: number, us: number, at: number): number {
  bytes[at] = tag
  const low = (us % 2 ** 32) * 1000
  const high = Math.floor(us / 2 ** 32) * 1000 + Math.floor(low / 2 ** 32)
  return bytes.writeUInt32LE(high, bytes.writeUInt32LE(low % 2 ** 32, at + 1))
}

/** Tells that what was appended from `start` on is a span. */
function putHeadBefore(start: number, to: SpanBytes): void {
  const length = to.length - start
  const headLength = 1 + varintLength(length)
  to.reserve(headLength)
  const { bytes } = to
  bytes.copyWithin(start + headLength, start, to.length)
  bytes[start] = 0x12
  writeVarint(bytes, length, start + 1)
  to.length += headLength
}

/** Attributes that are mostly those of a call before, as one piece. */
function sharedAppender(attributes: readonly SpanAttribute[]): Append {
  const recent: { readonly values: readonly unknown[]; readonly bytes: Buffer }[] = []
  const values: ReturnType<SpanAttribute['of']>[] = []
  let next = 0
  return ({ call }, to) => {
    for (let i = 0; i < attributes.length; i++) values[i] = attributes[i]?.of(call) ?? null
    let found = recent.find((one) => one.values.every((value, index) => value === values[index]))
    if (found === undefined) {
      const bytes = Buffer.concat(
        attributes.map((attribute, index) => sharedField(attribute, values[index] ?? null)),
      )
      found = { values: [...values], bytes }
      if (bytes.length <= longestShared) recent[next++ % mostShared] = found
    }
    to.append(found.bytes)
  }
}

function sharedField({ name, type }: SpanAttribute, value: string | number | boolean | null): Buffer {
  if (value === null) return Buffer.alloc(0)
  if (type === 'flag') return keyValue(attributeTag, name, Buffer.of(0x10, value === true ? 1 : 0))
  const text = String(value)
  return keyValue(attributeTag, name, type === 'list' ? listValue(text.split(',')) : textValue(text))
}

function attributeAppender({ name, type, of }: SpanAttribute): Append {
  const whole = (value: Buffer): Buffer => keyValue(attributeTag, name, value)
  if (type === 'text') {
    const encoded = remembered((text) => whole(textValue(text)), longestRemembered)
    return ({ call }, to) => {
      const value = of(call)
      if (value !== null) to.append(encoded(String(value)))
    }
  }
  /** All of an attribute but the last bytes, which are its value; by how many these are. */
  const heads: Buffer[] = []
  return ({ call }, to) => {
    const value = of(call)
    // An upstream may report any count that it likes.
    if (value === null || (type === 'count' && Number(value) < 0)) return
    const length = type === 'id' ? String(value).length : type === 'measure' ? 8 : varintLength(Number(value))
    heads[length] ??= whole(
      type === 'id'
        ? textValue(' '.repeat(length))
        : Buffer.alloc(1 + length, type === 'count' ? 0x18 : 0x21),
    ).subarray(0, -length)
    to.append(heads[length])
    to.reserve(length)
    if (type === 'id') to.length += to.bytes.write(String(value), to.length, 'latin1')
    else if (type === 'measure') to.length = to.bytes.writeDoubleLE(Number(value), to.length)
    else to.length = writeVarint(to.bytes, Number(value), to.length)
  }
}

/** `opentelemetry.proto.common.v1.KeyValue` of an `AnyValue`. */
function keyValue(tag: number, name: string, value: Buffer): Buffer {
  return field(tag, field(0x0a, name), field(0x12, value))
}

function textValue(text: string): Buffer {
  return field(0x0a, text)
}

function listValue(texts: readonly string[]): Buffer {
  return field(0x2a, ...texts.map((text) => field(0x0a, textValue(text))))
}

/** Of `ExportTraceServiceResponse`. */
function readAcceptance(body: Buffer): Acceptance {
  let [rejected, message] = [0, '']
  for (const { number, content } of readFields(body)) {
    if (number !== 1) continue
    for (const { number: inner, value, content: text } of readFields(content)) {
      if (inner === 1) rejected = value
      else if (inner === 2) message = text.toString()
    }
  }
  return { rejected, message }
}

// The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding), as far as spans need it.

/** Bytes that a whole number of at least 0 takes. */
function varintLength(value: number): number {
  let length = 1
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) length++
  return length
}

/** Writes a whole number of at least 0; answers where it ends. */
function writeVarint(bytes: Uint8Array, value: number, at: number): number {
  let [left, next] = [value, at]
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes[next++] = (left % 0x80) | 0x80
  bytes[next] = left
  return next + 1
}

/** What stands before the bytes of a field. */
function fieldHead(tag: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(1 + varintLength(length))
  head[0] = tag
  writeVarint(head, length, 1)
  return head
}

/** A field that holds bytes, a text or a message. */
function field(tag: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  return Buffer.concat([fieldHead(tag, content.length), content])
}

interface ReadField {
  readonly number: number
  /** Of a whole number; 0 for any other. */
  readonly value: number
  /** Of a text or a message; empty for any other. */
  readonly content: Buffer
}

/** The fields of a message. Throws if it is cut off. */
function* readFields(bytes: Buffer): Generator<ReadField> {
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
