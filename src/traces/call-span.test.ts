import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareCall, chatCall, sampleStartMs } from '../../test/store/sample-call.ts'
import { idsPerMs } from '../call/call-id.ts'
import type { StoredCall } from '../call/call-record.ts'
import { type SchemePorts, spanAttributes, spanOf } from './call-span.ts'

const id = sampleStartMs * idsPerMs
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentSpanId = '00f067aa0ba902b7'

/** All that are looked at name their port, or are asked over https. */
const overHttps = new Proxy({}, { get: () => 443 })

function attributesOf(
  call: StoredCall,
  ports: SchemePorts = { default: overHttps },
): Record<string, unknown> {
  const read = spanAttributes(() => ports).map(({ name, of }): [string, unknown] => [name, of(call)])
  return Object.fromEntries(read.filter(([, value]) => value !== null))
}

test('a call says in the words of the conventions what was asked, answered and used, and nothing of what was said', () => {
  const call = { ...chatCall(id), session: 'nightly', errorMessage: 'never', queueMs: 1.5, retryWaitMs: 20 }
  assert.deepEqual(attributesOf(call), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5.1-mini',
    'gen_ai.request.stream': true,
    'gen_ai.response.model': 'gpt-5.1-mini-2026-08-01',
    'gen_ai.response.finish_reasons': 'stop',
    'gen_ai.response.time_to_first_chunk': 0.1825,
    'gen_ai.usage.input_tokens': 1204,
    'gen_ai.usage.output_tokens': 165,
    'gen_ai.usage.cache_read.input_tokens': 1024,
    'gen_ai.usage.cache_write.input_tokens': 0,
    'gen_ai.usage.reasoning.output_tokens': 0,
    'gen_ai.conversation.id': 'nightly',
    'server.address': 'api.openai.com',
    'server.port': 443,
    'http.response.status_code': 200,
    'tokenweir.call_id': '6gzrgpj0000',
    'tokenweir.outcome': 'ok',
    'tokenweir.attempts': 1,
    'tokenweir.queue_ms': 1.5,
    'tokenweir.retry_wait_ms': 20,
    'tokenweir.overhead_ms': 0.31,
    'tokenweir.cost_usd': 0.0004125,
  })
})

test('its span lasts as long as the call, and is a child of the client’s, or the root of a trace of its own', () => {
  const own = spanOf(chatCall(id))!
  assert.deepEqual(
    [own.name, own.startUs, own.endUs, own.parentSpanId, own.isFailed],
    ['chat gpt-5.1-mini', sampleStartMs * 1000, sampleStartMs * 1000 + 2_310_750, null, false],
  )
  assert.match(own.traceId, /^[\da-f]{32}$/)
  assert.match(own.spanId, /^[\da-f]{16}$/)
  const spans = Array.from({ length: 2000 }, () => spanOf({ ...chatCall(id), traceId, parentSpanId })!)
  assert.ok(spans.every((span) => span.traceId === traceId && span.parentSpanId === parentSpanId))
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 2000)
  assert.ok(spans.every(({ spanId }) => spanId.length === 16))
})

const operations = [
  [{ endpoint: '/v1/chat/completions' }, 'chat'],
  [{ endpoint: '/v1/responses' }, 'chat'],
  [{ endpoint: '/v1/messages' }, 'chat'],
  [{ endpoint: '/v1/completions' }, 'text_completion'],
  [{ callType: 'embedding', endpoint: '/v1/embeddings' }, 'embeddings'],
  [{ callType: 'rerank', endpoint: '/v1/rerank' }, 'rerank'],
] as const

for (const [fields, operation] of operations) {
  test(`the operation of ${fields.endpoint} is ${operation}`, () => {
    const call: StoredCall = { ...chatCall(id), ...fields }
    assert.equal(attributesOf(call)['gen_ai.operation.name'], operation)
    assert.equal(spanOf(call)?.name, `${operation} gpt-5.1-mini`)
    assert.equal(spanOf({ ...call, model: null })?.name, operation)
  })
}

test('what the conventions have no word for is named by its method, and says its path', () => {
  const call: StoredCall = { ...bareCall(id), method: 'POST', endpoint: '/v1/audio/speech', outcome: 'ok' }
  assert.equal(spanOf(call)?.name, 'POST')
  const { 'http.request.method': method, 'url.path': path, ...rest } = attributesOf(call)
  assert.deepEqual([method, path], ['POST', '/v1/audio/speech'])
  assert.ok(!('gen_ai.operation.name' in rest) && !('gen_ai.request.stream' in rest))
})

const without = [
  ['its trace is not sampled', { traceId, parentSpanId: null }],
  ['it asked what models there are', { callType: 'props', method: 'GET' }],
  ['it fetched something', { callType: 'other', method: 'GET' }],
  ['nobody knows when it ended', { outcome: 'interrupted', durationMs: null }],
] as const

for (const [why, fields] of without) {
  test(`a call has no span if ${why}`, () => assert.equal(spanOf({ ...chatCall(id), ...fields }), null))
}

const ends = [
  [{ outcome: 'upstream_error', failureCode: 'upstream_http', status: 429 }, '429', 429],
  [{ outcome: 'upstream_error', failureCode: 'stream_error', status: 200 }, 'stream_error', 200],
  [{ outcome: 'refused', failureCode: 'queue_full', status: 503, ttfbMs: null }, 'queue_full', undefined],
  [{ outcome: 'gateway_error', failureCode: null, status: 500, ttfbMs: null }, 'gateway_error', undefined],
  [
    { outcome: 'client_disconnected', failureCode: 'client_gone', status: 499, ttfbMs: null },
    undefined,
    undefined,
  ],
] as const

for (const [fields, type, status] of ends) {
  test(`the error of ${fields.outcome} ${fields.failureCode} is ${type}`, () => {
    const call: StoredCall = { ...chatCall(id), ...fields }
    const attributes = attributesOf(call)
    assert.deepEqual([attributes['error.type'], attributes['http.response.status_code']], [type, status])
    assert.equal(spanOf(call)?.isFailed, type !== undefined)
  })
}

const hosts = [
  ['api.openai.com', 'openai', 'api.openai.com', 443],
  ['us.api.openai.com', 'openai', 'us.api.openai.com', 443],
  ['notopenai.com', 'notopenai.com', 'notopenai.com', 443],
  ['mine.openai.azure.com', 'azure.ai.openai', 'mine.openai.azure.com', 443],
  ['api.anthropic.com', 'anthropic', 'api.anthropic.com', 443],
  ['europe-west4-aiplatform.googleapis.com', 'gcp.vertex_ai', 'europe-west4-aiplatform.googleapis.com', 443],
  ['bedrock-runtime.eu-west-1.amazonaws.com', 'aws.bedrock', 'bedrock-runtime.eu-west-1.amazonaws.com', 443],
  ['api.x.ai:8443', 'x_ai', 'api.x.ai', 8443],
  ['localhost:11434', 'localhost', 'localhost', 11_434],
  ['[::1]:8080', '::1', '::1', 8080],
] as const

for (const [upstream, provider, address, port] of hosts) {
  test(`the provider at ${upstream} is ${provider}`, () => {
    const attributes = attributesOf({ ...chatCall(id), upstream })
    const named = ['gen_ai.provider.name', 'server.address', 'server.port'].map((name) => attributes[name])
    assert.deepEqual(named, [provider, address, port])
  })
}

const ports: SchemePorts = { default: { 'one.test': 443 }, lab: { 'one.test': 80 } }
const named = [
  [null, 'one.test', 443],
  ['default', 'one.test', 443],
  ['lab', 'one.test', 80],
  ['lab', 'one.test:8080', 8080],
  ['lab', 'two.test', undefined],
  ['gone', 'one.test', undefined],
  ['lab', null, undefined],
] as const

for (const [upstreamName, upstream, port] of named) {
  test(`the port of ${upstream} is ${port} if ${upstreamName} is asked there`, () => {
    const attributes = attributesOf({ ...chatCall(id), upstreamName, upstream }, ports)
    assert.equal(attributes['server.port'], port)
  })
}
