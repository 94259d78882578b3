import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, test } from 'node:test'
import { exchange, exchangeBytes, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { bodyReply } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'

/** Every method that Node's parser knows, but for the two that are no requests to an API. */
const forwardedMethods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE')

const forwardedTargets = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/reranking',
  '/rerank',
  '/reranking',
  '/props',
  '/v1/props',
  '/v1/models',
  '/v1/models/org/name',
  '/v1/models/org%2Fname',
  '/v1/audio/transcriptions',
  '/v1/files/file-1/content',
  '/v1/realtime/sessions',
  '/v1/',
  '/v1/no/such/route/at/all',
  '/v1/raw-logs',
]

/** Spellings that a careless hand would decode, sort, re-encode or normalise. */
const exactTargets = [
  '/v1/models?limit=5',
  '/v1/models?',
  '/v1/models??a=b?c',
  '/v1/models?b=2&a=1&b=1',
  '/v1/models?a=%20+%2B%2f%2F&b=%C3%A9',
  '/v1/models?q="quoted"{}|\\^`<>[]',
  '/v1/models?next=/../../etc/passwd',
  '/v1/models?url=http://elsewhere.example/a%00b',
  '/v1/models/%e2%82%ac',
  '/v1/models/%E2%82%AC',
  '/v1/models/a%252e%252e%252fb',
  '/v1/models/a..b/...',
  '/v1/models/.hidden',
  '/v1/models/a%3Fb%23c',
  "/v1/models/a;v=1,2:3@4!$&'()*+=~_-",
  '/v1//models//x/',
  '/v1/models/a%20b',
]

/** Nothing that might lead out of the base, or be read in two ways, is passed on. */
const refusedTargets = [
  '/v1/../admin',
  '/v1/..',
  '/v1/.',
  '/v1/./models',
  '/v1/models/..',
  '/v1/%2e%2e/admin',
  '/v1/%2E%2E/admin',
  '/v1/.%2e/admin',
  '/v1/%2e./admin',
  '/v1/..%2fadmin',
  '/v1/..%2Fadmin',
  '/v1/a%2f..%2f..%2fadmin',
  '/v1/..\\admin',
  '/v1\\models',
  '/v1/..%5cadmin',
  '/v1/%5c..%5cadmin',
  '/v1/models/%00',
  '/v1/models%00/x',
  '/v1/models/%',
  '/v1/models/%2',
  '/v1/models/%zz',
  '/v1/models/%u0041',
  '/v1/models#fragment',
  '/v1/models?a=b#fragment',
  '/rerank/..%2fadmin',
  'http://weir.localhost/v1/../admin',
  'http://weir.localhost/v1/%2e%2e/admin',
  'v1/models',
  'ftp://weir.localhost/v1/models',
  'http:///v1/models',
  'mailto:somebody',
]

const unknownTargets = [
  '/v1',
  '/v2/chat/completions',
  '/V1/models',
  '/chat/completions',
  '/rerank/',
  '/reranking/x',
  '/props/',
  '/propsy',
  '/healthz',
  '/health/',
  '//elsewhere.example/v1/models',
  '///v1/models',
  '/%76%31/models',
  '/favicon.ico',
  '/v1/raw-log',
  '/v1/raw-log/',
  '/v1/raw-log/Status',
  '/v1/raw-log/status/',
  '/v1/raw-log/stream/1?x=1',
]

function startUpstream(): Promise<SimulatedUpstream> {
  return startSimulatedUpstream({
    reply: (request) => bodyReply([request.target], { framing: 'content-length' }),
  })
}

const upstream = await startUpstream()
const gateway = await startGatewayProcess({ upstream: upstream.origin, args: ['--max-concurrent', '64'] })
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

let recorded = 0

/** What the upstream gets while `act` runs, and the rows that come of it: both in order. */
async function forwarded(
  act: () => Promise<void>,
): Promise<{ readonly seen: string[]; readonly rows: string[] }> {
  const [seenBefore, rowsBefore] = [upstream.requests.length, recorded]
  await act()
  const seen = upstream.requests.slice(seenBefore)
  recorded += seen.length
  const calls = await recordedCalls(gateway, recorded)
  return {
    seen: seen.map((request) => `${request.method} ${request.target}`),
    rows: calls.slice(rowsBefore).map((call) => `${call.method} ${call.endpoint}`),
  }
}

function assertRefused(response: RawResponse, status: number, code: string, what: string): void {
  assert.equal(response.status, status, what)
  assert.equal(response.header('x-tokenweir-error'), code, what)
  assert.equal(asRecord(parseRecord(response.body.toString())['error'])['code'], code, what)
}

test('every method reaches the upstream on every forwarded path', async () => {
  await using client = await openRawClient(gateway.port)
  const asked: string[] = []
  const ask = async (method: string, target: string): Promise<void> => {
    asked.push(`${method} ${target}`)
    await client.send(requestBytes(method, target))
    const response = await client.response(method)
    assert.equal(response.status, 200, `${method} ${target}`)
    assert.equal(response.body.toString(), method === 'HEAD' ? '' : target)
  }
  const { seen, rows } = await forwarded(async () => {
    for (const target of forwardedTargets) {
      for (const method of ['GET', 'POST', 'DELETE']) await ask(method, target)
    }
    for (const method of forwardedMethods) await ask(method, '/v1/threads/t-1')
  })
  assert.deepEqual(seen, asked)
  assert.deepEqual(rows, asked)
})

test('path and query pass byte for byte', async () => {
  const { rows } = await forwarded(async () => {
    for (const target of exactTargets) {
      const response = await exchange(gateway.port, 'GET', target)
      assert.equal(response.body.toString(), target)
      const { headBytes } = upstream.requests.at(-1)!
      assert.ok(headBytes.includes(Buffer.from(`GET ${target} HTTP/1.1\r\n`, 'latin1')), target)
    }
  })
  assert.deepEqual(
    rows,
    exactTargets.map((target) => `GET ${target.split('?', 1)[0]}`),
  )
})

test("the base's path takes the place of /v1 and stands before the paths that have none", async () => {
  for (const base of ['/api/v3/', '/%7Euser/a%2Fb']) {
    await using below = await startGatewayProcess({ upstream: upstream.origin + base })
    const prefix = base.replace(/\/$/, '')
    const pairs = [
      ['/v1/models?limit=5', `${prefix}/models?limit=5`],
      ['/v1/models/org%2Fname', `${prefix}/models/org%2Fname`],
      ['/v1/v1/models', `${prefix}/v1/models`],
      ['/v1/', `${prefix}/`],
      ['/rerank', `${prefix}/rerank`],
      ['/reranking?a=%20', `${prefix}/reranking?a=%20`],
      ['/props', `${prefix}/props`],
      ['http://elsewhere.example/v1/models', `${prefix}/models`],
    ] as const
    for (const [asked, expected] of pairs) {
      const response = await exchange(below.port, 'GET', asked)
      assert.equal(response.body.toString(), expected)
    }
    const connections = upstream.connections.length
    const requests = upstream.requests.length
    for (const target of refusedTargets) {
      assertRefused(await exchange(below.port, 'POST', target), 400, 'invalid_request', target)
    }
    assert.deepEqual([upstream.connections.length, upstream.requests.length], [connections, requests])
  }
})

test('of an absolute target only path and query count', async () => {
  const authorities = ['http://weir.localhost', 'HTTP://elsewhere.example:81', 'https://u:p@[::1]:9']
  const { seen, rows } = await forwarded(async () => {
    for (const authority of authorities) {
      const response = await exchange(gateway.port, 'GET', `${authority}/v1/models?a=%20`)
      assert.equal(response.body.toString(), '/v1/models?a=%20')
      assert.equal(upstream.requests.at(-1)!.header('host'), `127.0.0.1:${upstream.port}`)
    }
    const health = await exchange(gateway.port, 'GET', 'http://elsewhere.example')
    assert.equal(health.status, 200)
  })
  assert.equal(seen.length, authorities.length)
  assert.deepEqual(
    rows,
    authorities.map(() => 'GET /v1/models'),
  )
})

test('a target that could leave the base is refused: nothing is forwarded, nothing is recorded', async () => {
  const { seen, rows } = await forwarded(async () => {
    for (const target of refusedTargets) {
      for (const method of ['GET', 'POST']) {
        const response = await exchange(gateway.port, method, target)
        assertRefused(response, 400, 'invalid_request', `${method} ${target}`)
      }
    }
  })
  assert.deepEqual([seen, rows], [[], []])
})

test('what is no forwarded path is answered 404 here, the raw log among it', async () => {
  const { seen, rows } = await forwarded(async () => {
    for (const target of unknownTargets) {
      for (const method of ['GET', 'POST']) {
        const response = await exchange(gateway.port, method, target)
        assertRefused(response, 404, 'not_found', `${method} ${target}`)
      }
    }
    // Known ones are answered here, and go nowhere either.
    const toggle = await exchange(gateway.port, 'POST', '/v1/raw-log/toggle', { body: '{"enabled":true}' })
    assertRefused(toggle, 400, 'invalid_request', 'toggle')
    assert.equal((await exchange(gateway.port, 'GET', '/v1/raw-log/status')).status, 200)
  })
  assert.deepEqual([seen, rows], [[], []])
})

test('OPTIONS * is answered here; other methods on *, CONNECT and TRACE are refused', async () => {
  const { port } = gateway
  const { seen, rows } = await forwarded(async () => {
    const options = await exchange(port, 'OPTIONS', '*')
    assert.equal(options.status, 204)
    assert.match(options.header('allow') ?? '', /\bPOST\b/)
    assert.equal(options.header('x-tokenweir-error'), undefined)
    assertRefused(await exchange(port, 'GET', '*'), 400, 'invalid_request', 'GET *')
    assertRefused(await exchange(port, 'POST', '*', { body: '{}' }), 400, 'invalid_request', 'POST *')
    for (const authority of ['elsewhere.example:443', `127.0.0.1:${upstream.port}`]) {
      const connect = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
      assertRefused(await exchangeBytes(port, connect, 'GET'), 405, 'method_not_allowed', 'CONNECT')
    }
    for (const target of ['/v1/models', '/health', '/nowhere']) {
      const trace = await exchange(port, 'TRACE', target)
      assertRefused(trace, 405, 'method_not_allowed', `TRACE ${target}`)
      assert.match(trace.header('allow') ?? '', /\bPOST\b/)
    }
  })
  assert.deepEqual([seen, rows], [[], []])
})

test('a path that begins with the base URL’s own path is the call below /v1, for clients whose base URL is a host', async () => {
  await using behindPath = await startSimulatedUpstream({ reply: () => bodyReply(['{}']) })
  await using gateway = await startGatewayProcess({
    upstream: `${behindPath.origin}/openai/v1?api-version=preview`,
  })
  const body = JSON.stringify({ model: 'm', messages: [] })
  for (const path of ['/openai/v1/chat/completions', '/v1/chat/completions?a=b']) {
    const { status } = await exchange(gateway.port, 'POST', path, { body })
    assert.equal(status, 200)
  }
  assert.deepEqual(fieldsOf(behindPath.requests, 'target'), [
    '/openai/v1/chat/completions?api-version=preview',
    '/openai/v1/chat/completions?a=b&api-version=preview',
  ])
  const calls = await recordedCalls(gateway, 2)
  assert.deepEqual(fieldsOf(calls, 'endpoint', 'call_type', 'model'), [
    ['/v1/chat/completions', 'chat', 'm'],
    ['/v1/chat/completions', 'chat', 'm'],
  ])
  const advised = await exchange(gateway.port, 'POST', '/openai/deployments/d/embeddings', { body })
  assert.equal(advised.status, 404)
  assert.match(advised.body.toString(), /upstreams add <name> --url/)
})
