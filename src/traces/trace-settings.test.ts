import assert from 'node:assert/strict'
import { test } from 'node:test'
import { traceSettings } from './trace-settings.ts'

const base = { otlpEndpoint: 'http://localhost:4318', otlpTracesEndpoint: 'none' }

const addresses = [
  ['http://localhost:4318', 'none', 'http://localhost:4318/v1/traces'],
  ['http://localhost:4318/', 'none', 'http://localhost:4318/v1/traces'],
  ['https://host/otlp/', 'none', 'https://host/otlp/v1/traces'],
  ['none', 'https://host/in/here', 'https://host/in/here'],
  ['none', 'https://host/', 'https://host/'],
  ['http://localhost:4318', 'https://host/traces', 'https://host/traces'],
] as const

for (const [otlpEndpoint, otlpTracesEndpoint, url] of addresses) {
  test(`spans for ${otlpEndpoint} and ${otlpTracesEndpoint} go to ${url}`, () => {
    assert.equal(traceSettings({ otlpEndpoint, otlpTracesEndpoint }, {}).url, url)
  })
}

test('what is said of traces goes before what is said of all', () => {
  const { isGzip, headers, problem } = traceSettings(base, {
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b = 2%2C%20two ,,c=x=y',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3',
  })
  assert.deepEqual([isGzip, problem], [true, null])
  assert.deepEqual(headers, { a: '1', b: '3', c: 'x=y' })
})

test('the resource is named by the variables of its kind', () => {
  const named = (env: Record<string, string>): unknown => traceSettings(base, env).resource
  assert.deepEqual(named({}), { 'service.name': 'tokenweir' })
  const attributes = 'service.name=by-list,deployment.environment.name=a%20b'
  const listed = { 'service.name': 'by-list', 'deployment.environment.name': 'a b' }
  assert.deepEqual(named({ OTEL_RESOURCE_ATTRIBUTES: attributes }), listed)
  assert.deepEqual(named({ OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: 'mine' }), {
    ...listed,
    'service.name': 'mine',
  })
  assert.deepEqual(named({ OTEL_SERVICE_NAME: '' }), { 'service.name': 'tokenweir' })
})

test('what cannot be followed is said, and never what a header holds', () => {
  const secret = 'k3y-that-nobody-may-see'
  const { headers, problem } = traceSettings(base, {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: `${secret},good=1,bad name=${secret},worse=${secret}%0d%0ax: y,odd=%E0%A4%A`,
  })
  assert.deepEqual(headers, { good: '1', odd: '%E0%A4%A' })
  assert.match(problem ?? '', /^the protocol grpc is not spoken.*; OTEL_EXPORTER_OTLP_HEADERS has 3 entries/)
  assert.ok(!problem!.includes(secret))
})
