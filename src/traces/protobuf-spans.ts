import { remembered } from '../lib/remembered.ts'
import type { CallSpan, SpanAttribute } from './call-span.ts'
import { field, fieldHead, readFields, varintLength, writeVarint } from './protobuf-wire.ts'
import type { Acceptance, SpanBytes, SpanFormat, SpanSource } from './span-format.ts'

/** Tags of `opentelemetry.proto.trace.v1.Span`: a field's number and its wire type. */
const traceIdTag = 0x0a
const spanIdTag = 0x12
const parentSpanIdTag = 0x22
const nameTag = 0x2a
const attributeTag = 0x4a
const kindIsClient = Buffer.of(0x30, 3)
const startTag = 0x39
const endTag = 0x41
const statusIsError = Buffer.of(0x7a, 2, 0x18, 2)
/** Sampled; and whether the parent is elsewhere: known that it is not, known that it is. */
const ownFlags = Buffer.of(0x85, 0x01, 1, 1, 0, 0)
const remoteFlags = Buffer.of(0x85, 0x01, 1, 3, 0, 0)
/** More than all of a span but its texts and its attributes takes. */
const fixedBytes = 128
/** Longer texts are not remembered: they do not repeat. */
const longestRemembered = 300

type Append = (span: CallSpan, to: SpanBytes) => void

/** Binary protobuf, the encoding that every receiver takes. */
export function protobufSpans(attributes: readonly SpanAttribute[], source: SpanSource): SpanFormat {
  const appendAttributes = attributes.map(attributeAppender)
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
      appendIds(span, to)
      to.append(nameField(span.name))
      for (const append of appendAttributes) append(span, to)
      appendRest(span, to)
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

function appendIds({ traceId, spanId, parentSpanId }: CallSpan, to: SpanBytes): void {
  to.reserve(fixedBytes)
  const { bytes } = to
  const id = (tag: number, hex: string, at: number): number => {
    bytes[at] = tag
    bytes[at + 1] = hex.length / 2
    return at + 2 + bytes.write(hex, at + 2, 'hex')
  }
  const at = id(spanIdTag, spanId, id(traceIdTag, traceId, to.length))
  to.length = parentSpanId === null ? at : id(parentSpanIdTag, parentSpanId, at)
}

function appendRest({ startUs, endUs, isFailed, parentSpanId }: CallSpan, to: SpanBytes): void {
  to.reserve(fixedBytes)
  const { bytes } = to
  let at = to.length
  bytes.set(kindIsClient, at)
  at = writeTime(bytes, startTag, startUs, at + kindIsClient.length)
  at = writeTime(bytes, endTag, endUs, at)
  if (isFailed) {
    bytes.set(statusIsError, at)
    at += statusIsError.length
  }
  bytes.set(parentSpanId === null ? ownFlags : remoteFlags, at)
  to.length = at + ownFlags.length
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

function attributeAppender(attribute: SpanAttribute): Append {
  const { name } = attribute
  const whole = (value: Buffer): Buffer => keyValue(attributeTag, name, value)
  /** All of an attribute but the last bytes of its value. */
  const before = (valueTag: number, bytes: number): Buffer =>
    whole(Buffer.alloc(1 + bytes, valueTag)).subarray(0, -bytes)
  if (attribute.type === 'count') {
    const { of } = attribute
    const heads = Array.from({ length: 8 }, (_, index) => before(0x18, index + 1))
    return ({ call }, to) => {
      const value = of(call)
      // An upstream may report any count that it likes.
      if (value === null || value < 0) return
      to.append(heads[varintLength(value) - 1] ?? whole(Buffer.of(0x18, 0)))
      to.reserve(8)
      to.length = writeVarint(to.bytes, value, to.length)
    }
  }
  if (attribute.type === 'measure') {
    const { of } = attribute
    const head = before(0x21, 8)
    return ({ call }, to) => {
      const value = of(call)
      if (value === null) return
      to.append(head)
      to.reserve(8)
      to.length = to.bytes.writeDoubleLE(value, to.length)
    }
  }
  if (attribute.type === 'flag') {
    const { of } = attribute
    const [no, yes] = [whole(Buffer.of(0x10, 0)), whole(Buffer.of(0x10, 1))]
    return ({ call }, to) => {
      const value = of(call)
      if (value !== null) to.append(value ? yes : no)
    }
  }
  const { type, of } = attribute
  if (type === 'id') {
    const heads: Buffer[] = []
    return ({ call }, to) => {
      const value = of(call)
      if (value === null) return
      const { length } = value
      to.append((heads[length] ??= whole(textValue(value)).subarray(0, -length)))
      to.reserve(length)
      to.length += to.bytes.write(value, to.length, 'latin1')
    }
  }
  const encoded = remembered(
    (text) => whole(type === 'words' ? listValue(text.split(',')) : textValue(text)),
    longestRemembered,
  )
  return ({ call }, to) => {
    const value = of(call)
    if (value !== null) to.append(encoded(value))
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
