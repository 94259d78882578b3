import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listenOnLoopback } from '../../src/lib/http/http.ts'
import { Condition } from '../support/condition.ts'
import { exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilWarned } from '../support/gateway-state.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams, untilUpstreams, writeUpstreams } from '../support/upstreams-file.ts'
import { type DecodedSpan, decodedRequest, spansIn } from '../traces/decoded-spans.ts'

interface Post {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const secret = 'k3y-0f-the-receiver-9f8e7d'
const prompt = 'what-only-the-model-may-read'

/** Takes spans, and answers as told; it takes all unless told. */
async function startReceiver(answer: (res: ServerResponse, index: number) => void = (res) => void res.end()) {
  const posts: Post[] = []
  const changed = new Condition()
  const server = createServer((req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => {
      posts.push({ path: req.url ?? '', headers: req.headers, body: Buffer.concat(pieces) })
      changed.changed()
      answer(res, posts.length - 1)
    })
  })
  const listening = await listenOnLoopback(server)
  const spans = (): readonly DecodedSpan[] => posts.flatMap(({ body }) => spansIn(body))
  return { origin: listening.origin, posts, changed, spans, [Symbol.asyncDispose]: () => listening.close() }
}

function call(
  gateway: GatewayProcess,
  fields: object = {},
  headers: readonly (readonly [string, string])[] = [],
) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompt }], ...fields })
  return exchange(gateway.port, 'POST', '/v1/chat/completions', { body, headers })
}

function attributesOf(span: DecodedSpan | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))
}

describe('traces', { concurrency: true }, () => {
  test("each call that is sampled is a span, child of the client's, as JSON", async () => {
    await using upstream = await startSimulatedUpstream()
    await using receiver = await startReceiver()
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
        // The default of OpenTelemetry's exporters: a receiver of it takes JSON at the same address.
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_HEADERS: `api-key=${secret}`,
        OTEL_SERVICE_NAME: 'weir',
      },
    })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const parents = [`00-${trace}-00f067aa0ba902b7-01`, `00-${trace}-00f067aa0ba902b8-00`, `00-${trace}-1-01`]
    for (const parent of parents)
      await call(gateway, { stream: true }, [
        ['TraceParent', parent],
        ['tracestate', 'a=b'],
      ])
    upstream.replyOnce({ steps: jsonReply(429, { error: { message: 'no', type: 'rate' } }) })
    const failed = await call(gateway, {}, [['x-tokenweir-session', 'run 7']])
    await exchange(gateway.port, 'GET', '/v1/models')
    const rows = await recordedCalls(gateway, 5)
    await gateway.stop()

    const passedOn = upstream.requests.map((request) => [
      request.header('traceparent'),
      request.header('tracestate'),
    ])
    assert.deepEqual(passedOn.slice(0, 4), [
      ...parents.map((parent) => [parent, 'a=b']),
      [undefined, undefined],
    ])
    assert.ok(upstream.requests[0]!.headBytes.includes(`TraceParent: ${parents[0]}\r\n`))
    assert.deepEqual(fieldsOf(rows.slice(0, 4), 'trace_id', 'parent_span_id'), [
      [trace, '00f067aa0ba902b7'],
      [trace, null],
      [null, null],
      [null, null],
    ])

    const [post] = receiver.posts
    for (const { path, headers, body } of receiver.posts) {
      assert.deepEqual([path, headers['api-key']], ['/v1/traces', secret])
      assert.equal(headers['content-type'], 'application/json')
      assert.ok(!body.includes(prompt))
    }
    const { resource, scopeSpans } = decodedRequest(post!.body).resourceSpans[0]!
    assert.deepEqual(resource.attributes.map(({ key, value }) => [key, Object.values(value)[0]]).slice(1), [
      ['service.instance.id', rows[0]?.instance],
      ['service.name', 'weir'],
    ])
    assert.equal(scopeSpans[0]?.scope.name, 'tokenweir')
    const [child, root, error, ...others] = receiver.spans()
    assert.equal(others.length, 0)
    assert.deepEqual(
      [child?.traceId, child?.parentSpanId, child?.flags, child?.kind, child?.name],
      [trace, '00f067aa0ba902b7', 0x3_01, 3, 'chat m'],
    )
    const startedMs = Date.parse(rows[0]!.started_at)
    assert.equal(child?.startTimeUnixNano, `${startedMs}000000`)
    const lastedUs = (BigInt(child.endTimeUnixNano) - BigInt(child.startTimeUnixNano)) / 1000n
    assert.equal(Number(lastedUs), Math.round(rows[0]!.duration_ms! * 1000))
    const said = attributesOf(child)
    assert.equal(said['tokenweir.call_id'], rows[0]?.id)
    assert.equal(Number(said['gen_ai.usage.output_tokens']), rows[0]?.output_tokens)
    assert.equal(said['gen_ai.response.time_to_first_chunk'], rows[0]!.ttft_ms! / 1000)
    assert.notEqual(root?.traceId, trace)
    assert.deepEqual([root?.flags, root?.parentSpanId ?? ''], [0x1_01, ''])
    assert.deepEqual([error?.status?.code, failed.status], [2, 429])
    const { 'error.type': type, 'gen_ai.conversation.id': session } = attributesOf(error)
    assert.deepEqual([type, session], ['429', 'run 7'])
  })

  test('a span says the port of the upstream that the call went to, be it that of its scheme alone', async () => {
    await using byDefault = await startSimulatedUpstream()
    await using lab = await startSimulatedUpstream()
    await using receiver = await startReceiver()
    // Whether anybody listens there does not matter.
    const plain = { name: 'plain', urls: ['http://127.0.0.1'] }
    const coded = { name: 'coded', urls: ['https://127.0.0.1'] }
    await using gateway = await startGatewayOfUpstreams({
      upstream: byDefault.baseUrl,
      named: [coded, { name: 'lab', urls: [lab.origin] }],
      args: ['--otlp-endpoint', receiver.origin, '--connect-retry-ms', '0'],
    })
    const path = '/v1/chat/completions'
    const body = '{"model":"m"}'
    await exchange(gateway.port, 'POST', path, { body })
    await exchange(gateway.port, 'POST', `/lab${path}`, { body })
    await exchange(gateway.port, 'POST', `/coded${path}`, { body })
    writeUpstreams(gateway.directory, [plain])
    await untilUpstreams(gateway, 'another upstream', ([, named]) => named?.name === 'plain')
    await exchange(gateway.port, 'POST', `/plain${path}`, { body })
    const rows = await recordedCalls(gateway, 4)
    assert.deepEqual(fieldsOf(rows, 'upstream'), [
      `127.0.0.1:${byDefault.port}`,
      `127.0.0.1:${lab.port}`,
      '127.0.0.1',
      '127.0.0.1',
    ])
    await gateway.stop()
    const told = receiver.spans().map((span) => attributesOf(span))
    assert.deepEqual(
      told.map((said) => [said['server.address'], Number(said['server.port'])]),
      [byDefault.port, lab.port, 443, 80].map((port) => ['127.0.0.1', port]),
    )
  })

  test('a receiver that refuses: the batch is dropped, the calls go on, and its key stands nowhere', async () => {
    await using upstream = await startSimulatedUpstream()
    await using receiver = await startReceiver((res) => res.writeHead(401).end(`wrong key ${secret}`))
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--otlp-endpoint', receiver.origin],
      env: {
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: `Authorization=Bearer%20${secret}`,
        OTEL_EXPORTER_OTLP_HEADERS: secret,
      },
    })
    assert.equal((await call(gateway)).status, 200)
    await untilWarned(gateway, /^otlp_refused: /)
    const health = JSON.stringify(await gateway.health())
    assert.match(health, /refused 1 spans with status 401/)
    assert.match(health, /OTEL_EXPORTER_OTLP_HEADERS has 1 entries that are not name=value/)
    assert.equal((await call(gateway)).status, 200)
    await recordedCalls(gateway, 2)
    const metrics = (await exchange(gateway.port, 'GET', '/metrics')).body.toString()
    assert.match(metrics, /^tokenweir_spans_sent_total 0$/m)
    assert.match(metrics, /^tokenweir_spans_dropped_total 1$/m)
    const commandLine = readFileSync(`/proc/${gateway.pid}/cmdline`, 'utf8')
    await gateway.waitForOutput(/a span of each call goes to/)
    await gateway.stop()
    assert.equal(receiver.posts.length, 1)
    assert.equal(receiver.posts[0]?.headers.authorization, `Bearer ${secret}`)
    for (const text of [health, commandLine, gateway.stdout, gateway.stderr])
      assert.ok(!text.includes(secret))
    for (const name of await readdir(gateway.directory)) {
      assert.ok(!(await readFile(join(gateway.directory, name), 'latin1')).includes(secret), name)
    }
  })
})
