import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { CallJson } from '../../src/call/call-record.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, stall, until, write } from '../support/reply-step.ts'
import {
  type HeaderLines,
  bodyReply,
  chunkFrame,
  jsonReply,
  responseHead,
  sseEvent,
} from '../support/response-bytes.ts'
import { type OwnUpstream, shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = '/v1/chat/completions'
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(70_000) }] })
const slow = { error: { message: 'Slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' } }

/** However short a wait the upstream asks for, in milliseconds. */
const shortestPauseMs = 100

/** A 429 that asks for so short a wait that the test need not. */
function refusal(headers: HeaderLines = [['retry-after-ms', '20']]): ReplyStep[] {
  return jsonReply(429, slow, headers)
}

const retrying = ['--retry-429-max', '3', '--slot-cooldown-ms', '0']
const shared = await shareGateway({ args: retrying })
const { gateway } = shared

function call(upstream: OwnUpstream, path = chat, asked = body): Promise<RawResponse> {
  return exchange(gateway.port, 'POST', upstream.prefix + path, { body: asked })
}

async function retriesOf(upstream: OwnUpstream): Promise<unknown> {
  return (await upstream.slots())['total_retries_429']
}

/** Times are rounded to microseconds. */
const roundingMs = 0.01

function sumOf(times: readonly (number | null)[]): number {
  return times.reduce<number>((sum, ms) => sum + ms!, 0)
}

function fate({ status, outcome, failure_code: code, attempts }: CallJson): unknown[] {
  return [status, outcome, code, attempts]
}

test('a call is sent again as it was until it is answered, and the row tells what that took', async () => {
  await using upstream = await shared.upstream()
  upstream.replyOnce(refusal(), refusal([['Retry-After', '1']]))
  const answer = await call(upstream)
  assert.equal(answer.status, 200)
  assert.deepEqual(
    upstream.requests.map((request) => request.body.toString() === body),
    [true, true, true],
  )
  const [first, second, third] = upstream.requests
  assert.deepEqual(second!.rawHeaders, first!.rawHeaders)
  // A timer may be due up to a millisecond early.
  assert.ok(second!.headAtMs - first!.headAtMs >= 19 && third!.headAtMs - second!.headAtMs >= 999)
  assert.equal(upstream.connections.length, 1, 'the connection of a 429 is kept')
  const row = await rowOf(gateway, answer)
  assert.deepEqual(fate(row), [200, 'ok', null, 3])
  assert.ok(row.retry_wait_ms! >= 1018)
  // The waits are counted once.
  const parts = [row.receive_ms, row.queue_ms, row.retry_wait_ms, row.ttfb_ms, row.overhead_ms]
  assert.ok(sumOf(parts) <= row.duration_ms! + roundingMs, JSON.stringify(row))
  assert.equal(row.error_message, null)
  assert.equal(await retriesOf(upstream), 2)
  await upstream.untilCalls()
})

test('the last 429 passes byte for byte, and so does one that may not be tried again', async () => {
  await using upstream = await shared.upstream()
  const last = Buffer.from('{"error" : {"message":"last", "code":"n"}}')
  const headers = [
    ['X-Request-Id', 'r-9'],
    ['Retry-After-Ms', '1'],
  ] as const
  upstream.replyOnce(refusal(), refusal(), refusal(), bodyReply([last], { status: 429, headers }))
  const answer = await call(upstream)
  assert.deepEqual([answer.status, answer.body.toString()], [429, last.toString()])
  assert.deepEqual([answer.header('x-request-id'), answer.header('retry-after-ms')], ['r-9', '1'])
  assert.equal(answer.header('x-tokenweir-error'), undefined)
  const row = await rowOf(gateway, answer)
  assert.deepEqual(fate(row), [429, 'upstream_error', 'upstream_http', 4])
  assert.deepEqual([row.error_message, row.upstream_error_code], ['last', 'n'])
  assert.equal(await retriesOf(upstream), 3)
  for (const [name, value] of [
    ['Retry-After', '61'],
    ['x-should-retry', 'false'],
  ] as const) {
    upstream.replyOnce(refusal([[name, value]]))
    const answer = await call(upstream)
    assert.deepEqual([answer.status, answer.header(name)], [429, value])
    assert.deepEqual(fate(await rowOf(gateway, answer)), [429, 'upstream_error', 'upstream_http', 1])
  }
  assert.equal(await retriesOf(upstream), 3)
})

test('a quota that is used up passes at once, byte for byte, in any coding', async () => {
  await using upstream = await shared.upstream()
  const used = Buffer.from(
    '{ "error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}',
  )
  for (const [coding, bytes] of [
    ['identity', used],
    ['gzip', gzipSync(used)],
    ['br', brotliCompressSync(used)],
  ] as const) {
    const headers = [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', coding],
      ['retry-after-ms', '20'],
    ] as const
    upstream.replyOnce(bodyReply([bytes.subarray(0, 9), bytes.subarray(9)], { status: 429, headers }))
    const answer = await call(upstream)
    assert.deepEqual([answer.status, answer.body], [429, bytes])
    const row = await rowOf(gateway, answer)
    assert.deepEqual(fate(row), [429, 'upstream_error', 'upstream_http', 1])
    assert.equal(row.upstream_error_code, 'insufficient_quota')
  }
  assert.equal(await retriesOf(upstream), 0)
})

test('without the option, and for bodies that are streamed through, every 429 passes', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => refusal() })
  for (const [path, args] of [
    [chat, []],
    ['/v1/files', retrying],
  ] as const) {
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, args })
    const before = upstream.requests.length
    assert.equal((await exchange(gateway.port, 'POST', path, { body })).status, 429)
    const { total_retries_429: retries } = asRecord((await gateway.health())['rate_limiter'])
    assert.deepEqual([upstream.requests.length - before, retries], [1, 0])
  }
})

test('a GET is tried again, too, and takes no slot', async () => {
  await using upstream = await shared.upstream({}, { max_concurrent: 1 })
  upstream.replyOnce([stall()], refusal())
  await using holder = await openRawClient(gateway.port)
  await holder.send(requestBytes('POST', upstream.prefix + chat, { body }))
  await upstream.waitForInFlight(1)
  const answer = await exchange(gateway.port, 'GET', `${upstream.prefix}/v1/models`)
  assert.deepEqual([answer.status, (await rowOf(gateway, answer)).attempts], [200, 2])
})

test('while it waits the slot is free; back again, a call goes ahead of those that came meanwhile', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await shared.upstream({}, { max_concurrent: 1 })
  const othersWait = Promise.withResolvers<void>()
  upstream.replyOnce([until(othersWait.promise), ...refusal()], [until(gate.promise), ...jsonReply(200, {})])
  const call = (name: string): Promise<unknown> =>
    exchange(gateway.port, 'POST', `${upstream.prefix}${chat}?${name}`, { body })
  const first = call('first')
  await upstream.waitForRequest(0)
  const second = call('second')
  await upstream.untilCalls({ active: 1, queued: 1 })
  // A call comes back behind those that have waited longer than it was at the upstream: the third comes later than a pause lasts.
  await sleep(2 * shortestPauseMs)
  const third = call('third')
  await upstream.untilCalls({ active: 1, queued: 2 })
  othersWait.resolve()
  // The second has the slot; the first waits for its time, and then in the queue.
  await upstream.waitForRequest(1)
  await upstream.untilCalls({ active: 1, queued: 2 })
  gate.resolve()
  await Promise.all([first, second, third])
  assert.deepEqual(
    upstream.requests.map(({ target }) => target.slice(chat.length + 1)),
    ['first', 'second', 'first', 'third'],
  )
  assert.equal(upstream.peakInFlight, 1)
  await upstream.untilCalls()
})

test('a client that leaves during the wait is recorded at once, and nothing is sent for it any more', async () => {
  await using upstream = await shared.upstream({ reply: () => refusal([['Retry-After', '30']]) })
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('POST', upstream.prefix + chat, { body }))
  await upstream.waitFor('its refusal', () => upstream.requests[0]?.replyEndAtMs !== undefined)
  await upstream.untilCalls({ active: 0, queued: 0 })
  client.leave()
  const [row] = await upstream.recorded(1)
  assert.deepEqual(fate(row!), [499, 'client_disconnected', 'client_gone', 1])
  assert.ok(row!.duration_ms! < 20_000 && row!.retry_wait_ms! > 0)
  const parts = [row!.receive_ms, row!.queue_ms, row!.retry_wait_ms, row!.overhead_ms]
  assert.ok(sumOf(parts) <= row!.duration_ms! + roundingMs, JSON.stringify(row))
  assert.deepEqual([row!.ttfb_ms, row!.connect_ms, row!.response_bytes], [null, null, 0])
  assert.equal(upstream.requests.length, 1)
})

test('a gateway that stops sends a waiting call away', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => refusal([['Retry-After', '30']]) })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, args: retrying })
  const call = exchange(gateway.port, 'POST', chat, { body })
  await upstream.waitFor('its refusal', () => upstream.requests[0]?.replyEndAtMs !== undefined)
  await untilCalls(gateway, { active: 0, queued: 0 })
  const stopped = gateway.stop()
  const answer = await call
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [503, 'draining'])
  assert.match(answer.header('retry-after') ?? '', /^\d+$/)
  assert.equal((await stopped).code, 0)
})

test('a 429 that breaks off, is endless, or stays unfinished is a 429 all the same; a broken answer is not', async () => {
  await using upstream = await shared.upstream()
  const head = write(
    responseHead(429, [
      ['retry-after-ms', '10'],
      ['Transfer-Encoding', 'chunked'],
    ]),
  )
  const endless = Array.from({ length: 40 }, () => write(chunkFrame(Buffer.alloc(4096, 'x'))))
  for (const rest of [[cut()], [...endless, stall()], [write(chunkFrame('half')), stall()]]) {
    upstream.replyOnce([head, ...rest])
    const answer = await call(upstream)
    assert.deepEqual([answer.status, (await rowOf(gateway, answer)).attempts], [200, 2])
  }
  upstream.replyOnce(
    [write(responseHead(200, [['Transfer-Encoding', 'chunked']])), write(chunkFrame('a')), cut()],
    refusal(),
  )
  const cutOff = await call(upstream)
  assert.deepEqual([cutOff.status, cutOff.complete], [200, false])
  assert.equal((await rowOf(gateway, cutOff)).attempts, 1)
})

test('with the wish for usage: refused, and each of the two forms of the call met by a 429', async () => {
  await using upstream = await shared.upstream()
  const stream = JSON.stringify({ model: 'm', stream: true })
  const unknown = jsonReply(400, { error: { message: 'unknown field: stream_options' } })
  const events = [
    sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: 'stop' }] }),
    sseEvent('[DONE]'),
  ]
  upstream.replyOnce(
    refusal(),
    unknown,
    refusal(),
    bodyReply(events, { headers: [['Content-Type', 'text/event-stream']] }),
  )
  const answer = await call(upstream, chat, stream)
  assert.deepEqual([answer.status, answer.body.toString()], [200, events.join('')])
  assert.deepEqual(
    upstream.requests.map((request) => request.body.includes('include_usage')),
    [true, true, false, false],
  )
  assert.deepEqual(fate(await rowOf(gateway, answer)), [200, 'ok', null, 4])
  assert.equal(await retriesOf(upstream), 2, 'what was sent again without the wish is no retry of a 429')

  await using second = await shared.upstream()
  const usage = sseEvent({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })
  second.replyOnce(
    refusal(),
    bodyReply([events[0]!, usage, events[1]!], { headers: [['Content-Type', 'text/event-stream']] }),
  )
  const asked = await call(second, chat, stream)
  assert.equal(
    asked.body.toString(),
    events.join(''),
    'the usage event is taken out of the second attempt, too',
  )
  const row = await rowOf(gateway, asked)
  assert.deepEqual([row.input_tokens, row.output_tokens, row.attempts], [3, 2, 2])
})

test('a client whose calls are always refused holds up nobody for longer than its first attempts', async () => {
  const many = 12
  await using upstream = await startSimulatedUpstream({
    reply: (request) =>
      request.target.endsWith('?refused') ? refusal([['retry-after-ms', '1']]) : jsonReply(200, {}),
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--retry-429-max', '20', '--max-concurrent', '1', '--slot-cooldown-ms', '20'],
  })
  await using clients = new AsyncDisposableStack()
  for (let i = 0; i < many; i++) {
    const client = clients.use(await openRawClient(gateway.port))
    await client.send(requestBytes('POST', `${chat}?refused`, { body }))
  }
  await untilHealth(gateway, 'all wait', ({ rate_limiter: slots }) => {
    const { total_admitted: admitted, queued } = slots as Record<string, number>
    return (admitted ?? 0) + (queued ?? 0) >= many
  })
  const before = upstream.requests.length
  assert.equal((await exchange(gateway.port, 'POST', chat, { body })).status, 200)
  const attempts = upstream.requests.length - 1 - before
  assert.ok(attempts <= 2 * many, `${attempts} attempts of others came before`)
})
