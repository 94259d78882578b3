import { isObject } from '../lib/message-shape.ts'
import type { CallSpan, SpanAttribute } from './call-span.ts'
import type { Acceptance, SpanFormat, SpanSource } from './span-format.ts'

const clientKind = 3
const errorStatus = 2
const ownFlags = 0x1_01
const remoteFlags = 0x3_01

/** OTLP's own mapping to JSON: ids in hexadecimal digits, 64-bit integers as texts, enumerations as numbers. */
export function jsonSpans(attributes: readonly SpanAttribute[], source: SpanSource): SpanFormat {
  const resource = Object.entries(source.resource).map(([key, value]) => ({
    key,
    value: { stringValue: value },
  }))
  const { name, version } = source
  const empty = { resource: { attributes: resource }, scopeSpans: [{ scope: { name, version }, spans: [] }] }
  const tail = ']}]}]}'
  const head = JSON.stringify({ resourceSpans: [empty] }).slice(0, -tail.length)
  return {
    contentType: 'application/json',
    append(span, to) {
      to.append(Buffer.from(`,${JSON.stringify(spanJson(span, attributes))}`))
    },
    // Each span has a comma before it.
    request: (spans) => [Buffer.from(head), spans.subarray(1), Buffer.from(tail)],
    acceptance: readAcceptance,
  }
}

function spanJson(span: CallSpan, attributes: readonly SpanAttribute[]): object {
  const { traceId, spanId, parentSpanId, name, startUs, endUs, isFailed, call } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    flags: parentSpanId === null ? ownFlags : remoteFlags,
    name,
    kind: clientKind,
    startTimeUnixNano: `${startUs}000`,
    endTimeUnixNano: `${endUs}000`,
    attributes: attributes.flatMap((attribute) => {
      const value = valueOf(attribute, call)
      return value === null ? [] : [{ key: attribute.name, value }]
    }),
    ...(isFailed && { status: { code: errorStatus } }),
  }
}

function valueOf({ type, of }: SpanAttribute, call: CallSpan['call']): object | null {
  const value = of(call)
  if (value === null || (type === 'count' && Number(value) < 0)) return null
  if (type === 'count') return { intValue: String(value) }
  if (type === 'measure') return { doubleValue: value }
  if (type === 'flag') return { boolValue: value }
  if (type !== 'list') return { stringValue: value }
  return {
    arrayValue: {
      values: String(value)
        .split(',')
        .map((word) => ({ stringValue: word })),
    },
  }
}

function readAcceptance(body: Buffer): Acceptance {
  const answer: unknown = JSON.parse(body.toString())
  const partial = isObject(answer) && isObject(answer['partialSuccess']) ? answer['partialSuccess'] : {}
  const { rejectedSpans: rejected = 0, errorMessage: message = '' } = partial
  return { rejected: Number(rejected) || 0, message: String(message) }
}
