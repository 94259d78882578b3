import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import * as fc from 'fast-check'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { StoredCall } from '../../src/call/call-record.ts'
import { type CallSpan, spanAttributes, spanOf } from '../../src/traces/call-span.ts'
import { jsonSpans, readAcceptance } from '../../src/traces/json-spans.ts'
import { bareCall, chatCall, sampleStartMs } from '../store/sample-call.ts'
import { type DecodedRequest, decodedRequest, partialSuccess } from './decoded-spans.ts'
import { draws } from '../support/draws.ts'

const attributes = spanAttributes(() => ({ default: { 'api.openai.com': 443 } }))
const source = {
  resource: { 'service.name': 'wéir', 'service.version': '1' },
  name: 'tokenweir',
  version: '0.2',
}
const encoder = jsonSpans(attributes, source)

const id = (n: number): number => sampleStartMs * idsPerMs + n
const traced = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentSpanId: '00f067aa0ba902b7' }
const calls: readonly StoredCall[] = [
  chatCall(id(1)),
  { ...chatCall(id(2)), ...traced, session: 'nightly "run" \\ – 😀 \u0001', finishReason: 'stop,tool_calls' },
  { ...chatCall(id(3)), outcome: 'upstream_error', failureCode: 'upstream_http', status: 429, model: null },
  { ...bareCall(id(4)), method: 'POST' },
  // A span of over 16 kB, and one whose counts take from one byte to eight, or are none.
  {
    ...chatCall(id(5)),
    model: 'm'.repeat(20_000),
    inputTokens: 0,
    outputTokens: 127,
    cachedInputTokens: 128,
  },
  {
    ...chatCall(id(6)),
    inputTokens: 2 ** 31,
    outputTokens: 2 ** 32 + 5,
    cachedInputTokens: Number.MAX_SAFE_INTEGER,
  },
  { ...chatCall(id(7)), inputTokens: -5, durationMs: 0.001, model: '', responseModel: '€'.repeat(50) },
]

/** As a receiver reads them, by the code of ours and by OpenTelemetry's own. */
function decodedBoth(spans: readonly CallSpan[]): readonly [ours: unknown, theirs: unknown] {
  const ours = decodedRequest(encoder.request(spans.map((span) => encoder.encode(span))))
  const theirs = decodedRequest(
    Buffer.from(JsonTraceSerializer.serializeRequest(spans.map(readable) as never)!),
  )
  return [unified(plain(ours)), unified(plain(theirs))]
}

/** The span as OpenTelemetry's SDK would hold it. */
function readable(span: CallSpan): object {
  const { traceId, spanId, parentSpanId, name, startUs, endUs, isFailed, call } = span
  const time = (us: number): [number, number] => [Math.floor(us / 1e6), (us % 1e6) * 1000]
  const values = attributes.flatMap(({ name: key, type, of }): [string, unknown][] => {
    const value = of(call)
    if (value === null || (type === 'count' && Number(value) < 0)) return []
    return [[key, type === 'list' ? String(value).split(',') : value]]
  })
  return {
    name,
    // CLIENT, in the SDK's numbers, which are one less.
    kind: 2,
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    parentSpanContext:
      parentSpanId === null ? undefined : { traceId, spanId: parentSpanId, traceFlags: 1, isRemote: true },
    startTime: time(startUs),
    endTime: time(endUs),
    attributes: Object.fromEntries(values),
    status: { code: isFailed ? 2 : 0 },
    events: [],
    links: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    resource: sdkResource,
    instrumentationScope: sdkScope,
  }
}
const sdkResource = { attributes: source.resource }
const sdkScope = { name: source.name, version: source.version }

/** Without what is written only because it is empty, and with doubles that are whole as such. */
function plain(request: DecodedRequest): unknown {
  const isEmpty = (key: string, value: unknown): boolean =>
    key.startsWith('dropped') || ['events', 'links'].includes(key) || (key === 'status' && !asCode(value))
  return JSON.parse(JSON.stringify(request), (key, value: unknown) => {
    if (isEmpty(key, value)) return undefined
    // Their order means nothing.
    if (key === 'attributes') return (value as { key: string }[]).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    // Numbers that are whole are integers to the SDK; measures are doubles to us.
    return key === 'intValue' || key === 'doubleValue' ? Number(value) : value
  })
}
const asCode = (status: unknown): boolean => (status as { code?: number }).code === 2

/** `intValue` and `doubleValue` under one name. */
const unified = (request: unknown): unknown =>
  JSON.parse(JSON.stringify(request).replaceAll('"doubleValue"', '"intValue"'))

test("OpenTelemetry's own code writes the same spans", () => {
  const [ours, theirs] = decodedBoth(calls.map((call) => spanOf(call)!))
  assert.deepEqual(ours, theirs)
  const { resourceSpans } = ours as DecodedRequest
  assert.equal(resourceSpans[0]!.scopeSpans[0]!.spans.length, calls.length)
})

test('it does so whatever a client and an upstream call things', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.constant(null))
  const count = fc.oneof(fc.maxSafeNat(), fc.constant(null))
  const fields = fc.record({
    model: text,
    responseModel: text,
    session: text,
    upstream: text,
    finishReason: text,
    inputTokens: count,
    outputTokens: count,
    durationMs: fc.integer({ min: 0, max: 10 ** 9 }),
    queueMs: fc.double({ noNaN: true, min: 0, max: 1e9 }),
  })
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: 5 }), (many) => {
      const [ours, theirs] = decodedBoth(
        many.map((some, index) => spanOf({ ...chatCall(id(index)), ...some })!),
      )
      assert.deepEqual(ours, theirs)
    }),
    { numRuns: draws(200) },
  )
})

test('half a pair of surrogates reaches no receiver: a strict one would refuse the whole request', () => {
  const half = { model: 'm\ud83d', session: '\ude00', finishReason: 'stop,\udfff' }
  const text = encoder.encode(spanOf({ ...chatCall(id(1)), ...half })!)
  assert.doesNotMatch(text, /\\ud[89a-f]/i)
  const { name } = JSON.parse(text) as { name: string }
  assert.equal(name, 'chat m\ufffd')
})

test('what a receiver took in part is read as OTLP writes it', () => {
  const rejected = { rejected: 70_000, message: 'töö many' }
  assert.deepEqual(readAcceptance(partialSuccess(70_000, 'töö many')), rejected)
  assert.deepEqual(readAcceptance(Buffer.from('{}')), { rejected: 0, message: '' })
  assert.throws(() => readAcceptance(Buffer.from('<html>')))
})
