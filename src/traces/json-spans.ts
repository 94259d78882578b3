import type { StoredCall } from '../call/call-record.ts'
import { isObject } from '../lib/message-shape.ts'
import { remembered } from '../lib/remembered.ts'
import type { CallSpan, SpanAttribute } from './call-span.ts'

/** The sender of the spans: attributes of the resource, and the scope's name and version. */
export interface SpanSource {
  readonly resource: Readonly<Record<string, string>>
  readonly name: string
  readonly version: string
}

/** A receiver's answer to an accepted request. */
export interface Acceptance {
  /** Spans that the receiver rejected. */
  readonly rejected: number
  readonly message: string
}

/** Spans as OTLP's JSON. */
export interface JsonSpans {
  encode(span: CallSpan): string
  /** The body of a request with these spans. */
  request(spans: readonly string[]): Buffer
}

const clientKind = 3
const errorStatus = 2
const ownFlags = 0x1_01
const remoteFlags = 0x3_01

/** OTLP's own mapping to JSON: ids in hexadecimal digits, 64-bit integers as texts, enumerations as numbers. */
export function jsonSpans(attributes: readonly SpanAttribute[], source: SpanSource): JsonSpans {
  const resource = Object.entries(source.resource).map(([key, value]) => ({
    key,
    value: { stringValue: value },
  }))
  const { name, version } = source
  const empty = { resource: { attributes: resource }, scopeSpans: [{ scope: { name, version }, spans: [] }] }
  const tail = ']}]}]}'
  const head = JSON.stringify({ resourceSpans: [empty] }).slice(0, -tail.length)
  const writers = attributes.map(attributeWriter)
  return {
    encode({ traceId, spanId, parentSpanId, name: spanName, startUs, endUs, isFailed, call }) {
      const parent =
        parentSpanId === null
          ? `"flags":${ownFlags}`
          : `"parentSpanId":"${parentSpanId}","flags":${remoteFlags}`
      let fields = ''
      for (const write of writers) fields += write(call)
      return (
        `{"traceId":"${traceId}","spanId":"${spanId}",${parent},"name":${jsonText(spanName)},"kind":${clientKind},` +
        `"startTimeUnixNano":"${startUs}000","endTimeUnixNano":"${endUs}000","attributes":[${fields.slice(1)}]` +
        `${isFailed ? `,"status":{"code":${errorStatus}}` : ''}}`
      )
    },
    request: (spans) => Buffer.from(`${head}${spans.join(',')}${tail}`),
  }
}

/** Returns a function that writes one attribute of a call, with a comma before it; an empty text without a value. */
function attributeWriter({ name, type, of }: SpanAttribute): (call: StoredCall) => string {
  const head = `,{"key":${JSON.stringify(name)},"value":`
  const textual = remembered((text): string => {
    if (type === 'text') return `${head}${stringValue(text)}}`
    return `${head}{"arrayValue":{"values":[${text.split(',').map(stringValue).join(',')}]}}}`
  })
  return (call) => {
    const value = of(call)
    // An upstream may report any count.
    if (value === null || (type === 'count' && Number(value) < 0)) return ''
    if (type === 'count') return `${head}{"intValue":"${String(value)}"}}`
    if (type === 'measure') return `${head}{"doubleValue":${String(value)}}}`
    if (type === 'flag') return `${head}{"boolValue":${String(value)}}}`
    return type === 'id' ? `${head}{"stringValue":"${String(value)}"}}` : textual(String(value))
  }
}

function stringValue(text: string): string {
  return `{"stringValue":${jsonText(text)}}`
}

/**
 * Text as JSON, without lone surrogates: a client may send one as a model's name, and some receivers then
 * refuse the whole request.
 */
function jsonText(text: string): string {
  return JSON.stringify(text.toWellFormed())
}

/** Reads the body of a 200. Throws `SyntaxError` if it is not JSON. */
export function readAcceptance(body: Buffer): Acceptance {
  const answer: unknown = JSON.parse(body.toString())
  const partial = isObject(answer) && isObject(answer['partialSuccess']) ? answer['partialSuccess'] : {}
  const { rejectedSpans: rejected = 0, errorMessage: message = '' } = partial
  return { rejected: Number(rejected) || 0, message: String(message) }
}
