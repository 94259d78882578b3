import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilIdle } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, write } from '../support/reply-step.ts'
import { bodyReply, jsonReply, responseHead, sseEvent } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","messages":[]}' }

for (const [name, death] of [
  ['FIN', cut()],
  ['RST', reset()],
] as const) {
  /** The second request on a connection meets its end; on a connection of its own it is answered. */
  const reply = (request: SeenRequest): ReplyStep[] => {
    if (request.connection.requests.length > 1) return [death]
    return request.method === 'HEAD'
      ? [write(responseHead(200, [['Content-Length', '11']]))]
      : jsonReply(200, { ok: true })
  }

  test(`a kept connection that dies (${name}) under a GET: sent once more, and the client sees nothing`, async () => {
    await using upstream = await startSimulatedUpstream({ reply })
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    for (const [index, method] of ['GET', 'GET', 'GET', 'HEAD'].entries()) {
      const answer = await exchange(gateway.port, method, `/v1/models?call=${index}`)
      assert.deepEqual([answer.status, answer.complete], [200, true])
    }
    assert.deepEqual(
      upstream.requests.map((request) => request.target.at(-1)),
      // The first has a new connection; each of the others meets the one before it, which dies.
      ['0', '1', '1', '2', '2', '3', '3'],
    )
    const rows = await recordedCalls(gateway, 4)
    assert.ok(rows.every((row) => row.outcome === 'ok'))
    assert.deepEqual(
      rows.map((row) => row.attempts),
      [1, 2, 2, 2],
    )
  })

  test(`a kept connection that dies (${name}) under a GET with a body: the body is spent, so it is not sent again`, async () => {
    await using upstream = await startSimulatedUpstream({ reply })
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    const withBody = { headers: [['Content-Type', 'text/plain'] as const], body: 'asked in a body' }
    assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
    const second = await exchange(gateway.port, 'GET', '/v1/search', withBody)
    assert.deepEqual([second.status, second.header('x-should-retry')], [502, 'true'])
    assert.equal(upstream.requests.length, 2)
    const rows = await recordedCalls(gateway, 2)
    assert.deepEqual(
      rows.map((row) => row.attempts),
      [1, 1],
    )
  })

  test(`a kept connection that dies (${name}) under a POST: 502, to be tried again, and never sent twice`, async () => {
    await using upstream = await startSimulatedUpstream({ reply })
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)).status, 200)
    const second = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
    assert.equal(second.status, 502)
    assert.equal(second.header('x-tokenweir-error'), 'upstream_unreachable')
    assert.equal(second.header('x-should-retry'), 'true')
    assert.equal(upstream.requests.length, 2)
    const upload = { headers: [['Content-Type', 'text/plain'] as const], body: 'u'.repeat(100_000) }
    assert.equal((await exchange(gateway.port, 'POST', '/v1/files', upload)).status, 200)
    const fourth = await exchange(gateway.port, 'POST', '/v1/files', upload)
    assert.deepEqual([fourth.status, fourth.header('x-should-retry')], [502, 'true'])
    assert.equal(upstream.requests.length, 4)
    const rows = await recordedCalls(gateway, 4)
    assert.deepEqual(
      rows.map((row) => [row.outcome, row.failure_code, row.attempts]),
      [
        ['ok', null, 1],
        ['upstream_error', 'upstream_unreachable', 1],
        ['ok', null, 1],
        ['upstream_error', 'upstream_unreachable', 1],
      ],
    )
  })

  test(`an idle connection that the upstream ended (${name}) before the next call is not used for it`, async () => {
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    for (let round = 0; round < 20; round++) {
      assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)).status, 200)
      upstream.closeIdleConnections(name === 'FIN' ? 'fin' : 'reset')
      // The health report's way through the same gateway stands for time: what was sent before has arrived.
      await gateway.health()
    }
    assert.equal(upstream.requests.length, 20)
    assert.ok((await recordedCalls(gateway, 20)).every((row) => row.outcome === 'ok'))
  })

  test(`an upstream that ends connections (${name}) at any moment between calls never gets one twice`, async () => {
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
    const statuses = await inParallel(
      Array.from({ length: 200 }, (_, index) => index),
      4,
      async (index) => {
        const answer = await exchange(gateway.port, 'POST', `/v1/chat/completions?call=${index}`, chat)
        upstream.closeIdleConnections(name === 'FIN' ? 'fin' : 'reset')
        return answer.status
      },
    )
    assert.ok(statuses.every((status) => status === 200 || status === 502))
    const targets = upstream.requests.map((request) => request.target)
    assert.equal(new Set(targets).size, targets.length)
    await recordedCalls(gateway, 200)
    await untilIdle(gateway)
  })
}

test('calls in a row use one connection, and none that idled beyond the hint', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => jsonReply(200, {}, [['Keep-Alive', 'timeout=2']]),
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  for (let i = 0; i < 5; i++) await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  assert.equal(upstream.connections.length, 1)
  // One second of the two is left unused; the gateway closes the connection by itself.
  const end = await upstream.connections[0]!.closed
  assert.equal(end.by, 'client')
  const idledMs = end.atMs - upstream.requests[4]!.replyEndAtMs!
  assert.ok(idledMs < 2000, `closed after ${idledMs} ms`)
  await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  assert.equal(upstream.connections.length, 2)
})

test('a hint that leaves no time to spare, and `Connection: close`, end the connection with its answer', async () => {
  const headers = [
    ['Keep-Alive', 'timeout=1'],
    ['Connection', 'close'],
  ] as const
  await using upstream = await startSimulatedUpstream({
    reply: ({ index }) => jsonReply(200, {}, [headers[index % 2]!]),
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  for (let i = 0; i < 6; i++) {
    assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)).status, 200)
  }
  assert.equal(upstream.connections.length, 6)
})

test('300 calls in a row to an upstream that ends the connection after each stream: none fails', async () => {
  const events = [sseEvent({ choices: [{ index: 0, delta: { content: 'w' } }] }), sseEvent('[DONE]')]
  const stream = bodyReply(events, { headers: [['Content-Type', 'text/event-stream']] })
  // The FIN comes in the same breath as the last chunk, and unannounced, or a moment later.
  await using upstream = await startSimulatedUpstream({ reply: () => [...stream, cut()] })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using client = await openRawClient(gateway.port)
  for (let i = 0; i < 300; i++) {
    await client.send(requestBytes('POST', '/v1/chat/completions', chat))
    const answer = await client.response('POST')
    assert.deepEqual([answer.status, answer.complete], [200, true], `call ${i}: ${answer.body.toString()}`)
  }
  assert.equal(upstream.requests.length, 300)
  assert.ok((await recordedCalls(gateway, 300)).every((row) => row.outcome === 'ok'))
})

test('a burst leaves no idle connection behind', async () => {
  await using upstream = await startSimulatedUpstream({ model: { firstByteMs: 50 } })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '50'],
  })
  await inParallel(Array.from({ length: 50 }), 50, () =>
    exchange(gateway.port, 'POST', '/v1/chat/completions', chat),
  )
  assert.ok(upstream.connections.length > 10)
  await Promise.race([
    Promise.all(upstream.connections.map((connection) => connection.closed)),
    delay(9000).then(() => assert.fail('connections are still open')),
  ])
  assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)).status, 200)
})
