import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamDeaths } from '../faults/upstream-deaths.ts'
import { watchingClients } from '../faults/watching-clients.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, until, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, responseHead, sseEvent } from '../support/response-bytes.ts'
import { shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { watchDeaths } from './watch-deaths.ts'

const chatBody = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] })
const chat = { headers: [['Content-Type', 'application/json'] as const], body: chatBody }

test('every client sees every death in mid-answer, gets all that came before, and the rows tell', (context) =>
  watchDeaths({ openai: upstreamDeaths, raw: upstreamDeaths, 'raw-1.0': upstreamDeaths }, context))

const shared = await shareGateway()
const { gateway } = shared

test('an orderly close ends an answer without a length; a stream in it is known to lack its end mark', async () => {
  // Nobody can tell such an end from a break, the client with the upstream itself before it neither (RFC 9112 §6.3).
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  await using upstream = await startSimulatedUpstream({
    reply: () =>
      bodyReply([event, event], { framing: 'until-close', headers: [['Content-Type', 'text/event-stream']] }),
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  for (const name of ['raw', 'raw-1.0', 'curl', 'curl-1.0'] as const) {
    const seen = await watchingClients[name]({ port: gateway.port, streamed: true, query: {}, session: name })
    assert.deepEqual([seen.end, seen.body], ['clean', event + event], `${name}: ${seen.detail}`)
  }
  for (const row of await recordedCalls(gateway, 4)) {
    assert.deepEqual([row.outcome, row.failure_code, row.chunks], ['upstream_cut', 'stream_truncated', 2])
  }
})

test('a complete message without an end mark passes as it is, and only its row tells', async () => {
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  await using upstream = await shared.upstream({
    reply: () => bodyReply([event], { headers: [['Content-Type', 'text/event-stream']] }),
  })
  const answer = await exchange(gateway.port, 'POST', `${upstream.prefix}/v1/chat/completions`, chat)
  assert.deepEqual([answer.complete, answer.body.toString()], [true, event])
  const [row] = await upstream.recorded(1)
  assert.deepEqual([row?.outcome, row?.failure_code], ['upstream_cut', 'stream_truncated'])
})

test('what exceeds the announced length is not passed on, and the connection is not used again', async () => {
  await using upstream = await shared.upstream()
  upstream.replyOnce([
    write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
  ])
  const first = await exchange(gateway.port, 'GET', `${upstream.prefix}/v1/models`)
  assert.deepEqual([first.complete, first.body.toString()], [true, 'abc'])
  const second = await exchange(gateway.port, 'GET', `${upstream.prefix}/v1/models/m`)
  assert.equal(JSON.parse(second.body.toString()).id, 'm')
  assert.notEqual(upstream.requests[0]!.connection, upstream.requests[1]!.connection)
})

test('two megabytes that are on their way when the upstream breaks off still arrive', async () => {
  const block = chunkFrame(Buffer.alloc(32_768, 'x'))
  const blockCount = 64
  await using upstream = await shared.upstream({
    reply: ({ target }) => {
      const head = responseHead(200, [['Transfer-Encoding', 'chunked']])
      const blocks = Array.from({ length: blockCount }, () => write(block))
      return [write(head), ...blocks, target.endsWith('fin') ? cut() : write('garbage\r\n')]
    },
  })
  for (const how of ['fin', 'garbage']) {
    await using client = await openRawClient(gateway.port)
    client.stopReading()
    await client.send(requestBytes('POST', `${upstream.prefix}/v1/chat/completions?${how}`, chat))
    const request = await upstream.waitForRequest(how === 'fin' ? 0 : 1)
    assert.equal(await request.replyEnd, how === 'fin' ? 'cut' : 'complete')
    client.resumeReading()
    const answer = await client.response('POST')
    assert.equal(answer.complete, false, how)
    assert.equal(answer.body.length, blockCount * 32_768, how)
  }
  const rows = await upstream.recorded(2)
  assert.ok(rows.every((row) => row.failure_code === 'upstream_reset'))
})

test('an upload whose upstream dies meanwhile is answered, or cut, and never hangs', async () => {
  await using upstream = await shared.upstream()
  const uploadHead = `POST ${upstream.prefix}/v1/files HTTP/1.1\r\nHost: weir\r\nContent-Type: text/plain\r\nContent-Length: 3000000\r\n\r\n`
  // What the gateway has not read yet is lost with a reset.
  const passedOn = Promise.withResolvers<void>()
  const deaths: readonly ReplyStep[][] = [
    [reset()],
    [cut()],
    [write(responseHead(200, [['Content-Length', '10']])), write('half'), until(passedOn.promise), reset()],
  ]
  for (const [index, steps] of deaths.entries()) {
    upstream.replyOnce({ after: 'head', steps })
    await using client = await openRawClient(gateway.port)
    await client.send(uploadHead)
    void client.send(Buffer.alloc(1_000_000, 'u'))
    if (index === 2) void client.waitForBytes('half').then(() => passedOn.resolve())
    const answer = await client.response('POST')
    if (index < 2)
      assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_unreachable'])
    else assert.deepEqual([answer.status, answer.complete], [200, false])
  }
  const rows = await upstream.recorded(deaths.length)
  assert.deepEqual(fieldsOf(rows, 'outcome', 'failure_code'), [
    ['upstream_error', 'upstream_unreachable'],
    ['upstream_error', 'upstream_unreachable'],
    ['upstream_cut', 'upstream_reset'],
  ])
  await upstream.untilCalls()
})
