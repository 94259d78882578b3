import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import * as fc from 'fast-check'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { StoredCall } from '../../src/call/call-record.ts'
import { listenOnLoopback } from '../../src/lib/http/http.ts'
import { type CallSpan, spanAttributes, spanOf } from '../../src/traces/call-span.ts'
import { jsonSpans, readAcceptance } from '../../src/traces/json-spans.ts'
import { httpReceiver } from '../../src/traces/span-receiver.ts'
import { bareCall, chatCall, sampleStartMs } from '../store/sample-call.ts'
import { draws } from '../support/draws.ts'
import { freePort } from '../support/free-port.ts'
import { type DecodedRequest, decodedRequest, partialSuccess } from './decoded-spans.ts'

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

const never = new AbortController().signal
const body = Buffer.from('all spans')

/** A server that does with each connection, once a request has begun, as told. */
async function rawServer(answer: (socket: Socket, index: number) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    const index = sockets.length - 1
    socket.on('error', () => {})
    socket.on('data', () => answer(socket, index))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a request has the headers that were asked for, its length, and the spans as its body', async () => {
  let seen: unknown = null
  await using server = await listenOnLoopback(
    createHttp((req, res) => {
      let read = ''
      req.setEncoding('utf8').on('data', (piece: string) => (read += piece))
      req.on('end', () => {
        const { 'api-key': key, 'content-type': type, 'content-length': length } = req.headers
        seen = { method: req.method, path: req.url, key, type, length, body: read }
        res.writeHead(429, { 'Retry-After': '3' }).end('slow down')
      })
    }),
  )
  const receiver = httpReceiver(
    { url: `${server.origin}/in/here`, headers: { 'api-key': 'k' }, isGzip: false },
    {},
  )
  const { status, retryAfter, body: answer } = await receiver.post(body, never)
  assert.deepEqual([status, retryAfter, answer.toString()], [429, '3', 'slow down'])
  const sent = { key: 'k', type: 'application/json', length: '9', body: 'all spans' }
  assert.deepEqual(seen, { method: 'POST', path: '/in/here', ...sent })
  receiver.close()
})

test('a body is compressed if that is asked for', async () => {
  let seen: unknown = null
  await using server = await listenOnLoopback(
    createHttp((req, res) => {
      const pieces: Buffer[] = []
      req.on('data', (piece: Buffer) => pieces.push(piece))
      req.on('end', () => {
        const { 'content-encoding': coding, 'content-length': length } = req.headers
        const read = Buffer.concat(pieces)
        seen = { coding, body: gunzipSync(read).toString(), isWhole: Number(length) === read.length }
        res.end()
      })
    }),
  )
  const receiver = httpReceiver({ url: server.origin, headers: {}, isGzip: true }, {})
  await receiver.post(body, never)
  assert.deepEqual(seen, { coding: 'gzip', body: 'all spans', isWhole: true })
  receiver.close()
})

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
const late = /did not answer within 0\.2 s/
const bad = [
  ['hangs', () => {}, late],
  ['begins and hangs', (socket: Socket) => socket.write(head), late],
  ['drips', (socket: Socket) => drip(socket), late],
  ['resets', (socket: Socket) => socket.resetAndDestroy(), /ECONNRESET|socket hang up/],
  ['closes', (socket: Socket) => socket.destroy(), /ECONNRESET|socket hang up/],
  ['breaks off', (socket: Socket) => socket.end(`${head}{`), /aborted/],
  ['talks nonsense', (socket: Socket) => socket.end('hello\r\n\r\n'), /Parse Error/],
] as const

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20)
  socket.on('close', () => clearInterval(timer))
}

for (const [what, answer, reason] of bad) {
  test(`a receiver that ${what} is told from one that answers`, async () => {
    await using server = await rawServer(answer)
    // Who does not hang has all the time of a machine that stands still.
    const limitMs = reason === late ? 200 : 20_000
    const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {}, limitMs)
    await assert.rejects(receiver.post(body, never), reason)
    receiver.close()
  })
}

test('nobody who listens is an error with a name', async () => {
  const url = `http://127.0.0.1:${await freePort()}/v1/traces`
  const receiver = httpReceiver({ url, headers: {}, isGzip: false }, {})
  await assert.rejects(receiver.post(body, never), /ECONNREFUSED/)
  receiver.close()
})

test('of an endless answer its beginning is read', async () => {
  await using server = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const piece = `ffff\r\n${'x'.repeat(0xff_ff)}\r\n`
    const more = (): void => void (socket.writable && socket.write(piece, more))
    more()
  })
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  const { status, body: answer } = await receiver.post(body, never)
  assert.equal(status, 200)
  assert.ok(answer.length >= 64 * 1024 && answer.length < 2 ** 20)
  receiver.close()
})

test('a kept connection that died meanwhile is replaced, and nobody is told', async () => {
  await using server = await rawServer((socket, index) => {
    // The first answer stands; the second request finds the connection dead.
    if (index === 0 && socket.bytesWritten > 0) socket.resetAndDestroy()
    else socket.write(`${head}ok`)
  })
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  for (let i = 0; i < 2; i++) {
    const answer = await receiver.post(body, never)
    assert.equal(answer.body.toString(), 'ok')
  }
  assert.equal(server.sockets.length, 2)
  receiver.close()
})

test('whoever waits no longer is not waited for', async () => {
  await using server = await rawServer(() => {})
  const receiver = httpReceiver({ url: server.url, headers: {}, isGzip: false }, {})
  const over = new AbortController()
  const posted = receiver.post(body, over.signal)
  over.abort()
  await assert.rejects(posted, /abort/)
  receiver.close()
})

test('another machine is reached through the proxy of the environment, this one is not', async () => {
  const targets: string[] = []
  await using proxy = await listenOnLoopback(
    createHttp((req, res) => {
      targets.push(req.url ?? '')
      req.resume().on('end', () => res.end())
    }),
  )
  await using direct = await rawServer((socket) => socket.write(`${head}ok`))
  const env = { HTTP_PROXY: proxy.origin, http_proxy: proxy.origin }
  for (const url of ['http://receiver.invalid/v1/traces', direct.url]) {
    const receiver = httpReceiver({ url, headers: {}, isGzip: false }, env)
    assert.equal((await receiver.post(body, never)).status, 200)
    receiver.close()
  }
  assert.deepEqual(targets, ['http://receiver.invalid/v1/traces'])
})
