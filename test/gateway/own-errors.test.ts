import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../src/call/outcome.ts'
import type { FailureCode } from '../../src/call/failure.ts'
import { exchange, exchangeBytes, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { cut, reset, write } from '../support/reply-step.ts'
import { chunkFrame } from '../support/response-bytes.ts'

const { upstream, gateway } = await startGatewayOfFile({ args: ['--max-body-mb', '1'] })

/** The error that an own answer holds, after its outer shape was found to be that of `docs/errors.md`. */
function assertOwnError(
  response: RawResponse,
  status: number,
  code: FailureCode,
  type: string,
): { readonly message: string } {
  assert.equal(response.status, status, response.body.toString())
  assert.equal(response.header('x-tokenweir-error'), code)
  assert.equal(response.header('content-type'), 'application/json')
  assert.equal(response.header('content-length'), String(response.body.length))
  const body = parseRecord(response.body.toString())
  const error = asRecord(body['error'])
  assert.deepEqual(Object.keys(body), ['error'])
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
  assert.deepEqual([error['type'], error['param'], error['code']], [type, null, code])
  const message = String(error['message'])
  assert.match(message, /^\S.{10,}\S$/s)
  return { message }
}

async function assertRow(
  of: GatewayProcess,
  response: RawResponse,
  outcome: Outcome,
  code: FailureCode,
): Promise<void> {
  const row = await rowOf(of, response)
  assert.deepEqual([row.outcome, row.failure_code, row.status], [outcome, code, response.status])
  assert.equal(row.failed, true)
  assert.equal(row.error_message, String(asRecord(parseRecord(response.body.toString())['error'])['message']))
}

test('not_found and method_not_allowed', async () => {
  const client = 'invalid_request_error'
  assertOwnError(await exchange(gateway.port, 'GET', '/nowhere'), 404, 'not_found', client)
  const refused = await exchange(gateway.port, 'POST', '/health', { body: '{}' })
  assertOwnError(refused, 405, 'method_not_allowed', client)
  assert.match(refused.header('allow') ?? '', /\bGET\b/)
})

test('a head that is too large, or has too many fields, is told of its limits', async () => {
  const heads = [`X-Long: ${'x'.repeat(70_000)}\r\n`, 'X: y\r\n'.repeat(2500)]
  for (const head of heads) {
    const bytes = `GET /v1/models HTTP/1.1\r\nHost: localhost\r\n${head}\r\n`
    const { message } = assertOwnError(
      await exchangeBytes(gateway.port, bytes),
      400,
      'invalid_request',
      'invalid_request_error',
    )
    assert.match(message, /larger than 64 KiB, or has more than 1000 fields/)
  }
  const fields = 'X: y\r\n'.repeat(990)
  const bytes = `GET /v1/models HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`
  await exchangeBytes(gateway.port, bytes)
  const { rawHeaders } = upstream.requests.at(-1)!
  assert.equal(rawHeaders.filter((name) => name === 'X').length, 990, 'none is left out below the limit')
})

test('body_too_large, whether the length is told or found out', async () => {
  const limit = 1_000_000
  const sent = upstream.requests.length
  const told = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: Buffer.alloc(limit + 1) })
  assertOwnError(told, 413, 'body_too_large', 'invalid_request_error')
  await assertRow(gateway, told, 'refused', 'body_too_large')
  const found = Buffer.concat([
    Buffer.from('POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'),
    chunkFrame(Buffer.alloc(limit)),
    chunkFrame('x'),
  ])
  const chunked = await exchangeBytes(gateway.port, found, 'POST')
  assertOwnError(chunked, 413, 'body_too_large', 'invalid_request_error')
  await assertRow(gateway, chunked, 'refused', 'body_too_large')
  const unread = await exchange(gateway.port, 'POST', '/v1/rerank', {
    headers: [['Content-Length', '99999999999']],
  })
  assertOwnError(unread, 413, 'body_too_large', 'invalid_request_error')
  assert.equal(upstream.requests.length, sent)
  const whole = await exchange(gateway.port, 'POST', '/v1/chat/completions', {
    body: Buffer.alloc(limit, ' '),
  })
  assert.equal(whole.status, 200)
})

test('upgrade_not_supported, but for the offer of HTTP/2, which is ignored', async () => {
  const sent = upstream.requests.length
  const websocket = await exchange(gateway.port, 'GET', '/v1/realtime', {
    headers: [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
      ['Sec-WebSocket-Version', '13'],
    ],
  })
  assertOwnError(websocket, 426, 'upgrade_not_supported', 'invalid_request_error')
  assert.equal(websocket.header('upgrade'), 'HTTP/1.1')
  assert.equal(websocket.header('connection'), 'Upgrade, close')
  assert.equal(websocket.header('x-tokenweir-call-id'), undefined, 'no call, and no row')
  assert.equal(upstream.requests.length, sent)
  const java = await exchange(gateway.port, 'POST', '/v1/chat/completions', {
    headers: [
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
    ],
    body: '{"model":"m"}',
  })
  assert.equal(java.status, 200)
  const { rawHeaders } = upstream.requests.at(-1)!
  assert.ok(!rawHeaders.some((text) => /h2c|http2/i.test(text)), rawHeaders.join(' '))
})

test('loop_detected: a gateway whose upstream is itself answers, and does not storm', async () => {
  const port = await freePort()
  await using loop = await startGatewayProcess({
    upstream: `http://127.0.0.1:${port}`,
    args: ['--port', String(port), '--max-concurrent', '1'],
  })
  const response = await exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  assertOwnError(response, 508, 'loop_detected', 'invalid_request_error')
  assert.equal(response.header('x-should-retry'), 'false')
  const rows = await recordedCalls(loop, 2)
  assert.deepEqual(fieldsOf(rows, 'outcome', 'failure_code', 'status'), [
    ['upstream_error', 'upstream_http', 508],
    ['refused', 'loop_detected', 508],
  ])
})

test('loop_detected: also through another gateway', async () => {
  const port = await freePort()
  await using back = await startGatewayProcess({ upstream: `http://127.0.0.1:${port}` })
  await using front = await startGatewayProcess({ upstream: back.origin, args: ['--port', String(port)] })
  const response = await exchange(front.port, 'GET', '/v1/models')
  assertOwnError(response, 508, 'loop_detected', 'invalid_request_error')
  await recordedCalls(front, 2)
  await recordedCalls(back, 1)
})

test('upstream_unreachable: nobody listens', async () => {
  await using alone = await startGatewayProcess({ upstream: `http://127.0.0.1:${await freePort()}` })
  for (const [method, path] of [
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/files'],
    ['GET', '/v1/models'],
  ] as const) {
    const response = await exchange(alone.port, method, path)
    const { message } = assertOwnError(response, 502, 'upstream_unreachable', 'upstream_error')
    assert.match(message, /ECONNREFUSED/)
    assert.equal(response.header('x-should-retry'), undefined)
    await assertRow(alone, response, 'upstream_error', 'upstream_unreachable')
  }
})

test('upstream_unreachable: the connection is closed without an answer', async () => {
  for (const steps of [[cut()], [reset()], [write('HTTP/1.1 200 OK\r\nX-'), cut()]]) {
    const sent = upstream.requests.length
    upstream.replyOnce(steps)
    await using client = await openRawClient(gateway.port)
    await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m"}' }))
    const response = await client.response('POST')
    assertOwnError(response, 502, 'upstream_unreachable', 'upstream_error')
    await assertRow(gateway, response, 'upstream_error', 'upstream_unreachable')
    assert.equal(upstream.requests.length, sent + 1, 'it is sent once')
  }
})

test('upstream_protocol_error: the answer is not HTTP', async () => {
  const garbage = [
    'garbage\r\n\r\n',
    'SSH-2.0-OpenSSH_9.9\r\n',
    '<html>hello</html>\r\n\r\n',
    'HTTP/1.1 abc OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    'HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nX: a\u0000b\r\nContent-Length: 0\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX: ${'v'.repeat(70_000)}\r\n\r\n`,
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ]
  for (const bytes of garbage) {
    upstream.replyOnce([write(bytes), cut()])
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
    assert.equal(response.header('x-tokenweir-error'), 'upstream_protocol_error', bytes.slice(0, 80))
    assertOwnError(response, 502, 'upstream_protocol_error', 'upstream_error')
    await assertRow(gateway, response, 'upstream_error', 'upstream_protocol_error')
  }
})

test('upstream_protocol_error: a head of 200 kB is answered with the limit that it exceeds', async () => {
  upstream.replyOnce([write(`HTTP/1.1 200 OK\r\nX: ${'v'.repeat(200_000)}\r\n\r\n`)])
  const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  assertOwnError(response, 502, 'upstream_protocol_error', 'upstream_error')
  assert.match(response.body.toString(), /larger than 64 KiB/)
})

test("the upstream's own errors are its own: no header of ours, and a row in its words", async () => {
  const error = { message: 'Slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' }
  const body = JSON.stringify({ error })
  for (const status of [400, 401, 404, 429, 500, 503]) {
    upstream.replyOnce([
      write(
        `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    ])
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
    assert.deepEqual([response.status, response.body.toString()], [status, body])
    assert.equal(response.header('x-tokenweir-error'), undefined)
    const row = await rowOf(gateway, response)
    assert.deepEqual(
      [row.outcome, row.failure_code, row.status, row.upstream_error_code, row.error_message],
      ['upstream_error', 'upstream_http', status, 'rate_limit_exceeded', 'Slow down'],
    )
  }
})

test('a Host that is missing a plain name is refused, with a row', async () => {
  const sent = upstream.requests.length
  for (const host of [
    'a, b',
    'user@host',
    'host/path',
    '',
    'a b',
    'host:port',
    '[::1',
    'a?b',
    'a#b',
    'a:123456',
  ]) {
    const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', { host, body: '{}' })
    assertOwnError(response, 400, 'invalid_request', 'invalid_request_error')
    await assertRow(gateway, response, 'refused', 'invalid_request')
  }
  assert.equal(upstream.requests.length, sent)
})

test('a page of another origin may read a refusal if its preflight was allowed, and no own route', async () => {
  const origin = ['Origin', 'http://page.example'] as const
  const json = ['Content-Type', 'application/json'] as const
  const allowed = (answer: RawResponse): string | undefined => answer.header('access-control-allow-origin')
  const large = 'x'.repeat(1_000_001)
  const ask = (headers: readonly (readonly [string, string])[]): Promise<RawResponse> =>
    exchange(gateway.port, 'POST', '/v1/chat/completions', { headers, body: large })
  const refused = await ask([origin, json])
  assertOwnError(refused, 413, 'body_too_large', 'invalid_request_error')
  assert.deepEqual([allowed(refused), refused.header('vary')], ['http://page.example', 'Origin'])
  assert.match(refused.header('access-control-expose-headers') ?? '', /x-tokenweir-error/)
  assert.equal(allowed(await ask([origin, ['Content-Type', 'text/plain']])), undefined)
  assert.equal(allowed(await ask([json])), undefined)
  const own = await exchange(gateway.port, 'POST', '/health', { headers: [origin, json], body: '{}' })
  assert.deepEqual([own.status, allowed(own)], [405, undefined])
  const answered = await exchange(gateway.port, 'GET', '/v1/models', { headers: [origin] })
  assert.match(answered.header('access-control-expose-headers') ?? '', /x-tokenweir-call-id/)
  assert.equal(allowed(answered), undefined)
})
