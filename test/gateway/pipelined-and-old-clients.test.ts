import assert from 'node:assert/strict'
import { type Socket, connect } from 'node:net'
import { test } from 'node:test'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilIdle } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { stall, wait, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, jsonReply, responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const body = '{"model":"m","messages":[]}'

function chat(call: number, httpVersion = '1.1'): Buffer {
  return requestBytes('POST', `/v1/chat/completions?call=${call}`, { body, httpVersion })
}

test('pipelined requests are answered in their order, whichever upstream is faster', async () => {
  await using upstream = await startSimulatedUpstream({
    // Later calls would be answered sooner.
    reply: ({ target }) => {
      const call = Number(target.at(-1))
      return [wait((9 - call) * 4), ...jsonReply(200, { call })]
    },
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using client = await openRawClient(gateway.port)
  const calls = Array.from({ length: 10 }, (_, call) =>
    call % 3 === 1 ? requestBytes('GET', `/v1/models?call=${call}`) : chat(call),
  )
  await client.send(Buffer.concat(calls))
  for (let call = 0; call < calls.length; call++) {
    const answer = await client.response('POST')
    assert.deepEqual(JSON.parse(answer.body.toString()), { call })
  }
  assert.equal(upstream.requests.length, calls.length)
  assert.ok((await recordedCalls(gateway, calls.length)).every((row) => row.outcome === 'ok'))
})

test('a pipelining client that leaves frees everything', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => [
      write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
      write(chunkFrame('begun')),
      stall(),
    ],
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '2'],
  })
  for (let round = 0; round < 10; round++) {
    const client = await openRawClient(gateway.port)
    await client.send(Buffer.concat([0, 1, 2, 3, 4].map((call) => chat(call))))
    await client.waitForBytes('begun')
    const seen = upstream.requests.at(-1)!
    if (round % 2 === 0) client.leave()
    else client.reset()
    assert.equal((await seen.connection.closed).by, 'client')
    await untilIdle(gateway)
  }
  const rows = await recordedCalls(gateway, upstream.requests.length)
  assert.ok(rows.every((row) => row.outcome === 'client_disconnected'))
  assert.equal(complaintsOf(gateway), '')
})

test('an answer that is cut takes the pipelined requests behind it along, and they are not sent', async () => {
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce([
    write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
    write(chunkFrame('begun')),
    { do: 'cut' },
  ])
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using client = await openRawClient(gateway.port)
  await client.send(Buffer.concat([chat(0), chat(1), chat(2)]))
  const first = await client.response('POST')
  assert.deepEqual([first.status, first.complete], [200, false])
  await client.waitForServerEnd()
  assert.equal(client.received.length, 0, 'another answer behind a broken one')
  await untilIdle(gateway)
  assert.equal(upstream.requests.length, 1)
  await recordedCalls(gateway, 1)
})

test('HTTP/1.0 clients: a body without a length ends with the connection, one with a length may be followed', async () => {
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce(bodyReply(['a', 'b', 'c']), jsonReply(200, { n: 1 }), jsonReply(200, { n: 2 }))
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using streaming = await openRawClient(gateway.port)
  await streaming.send(chat(0, '1.0'))
  const stream = await streaming.response('POST')
  assert.deepEqual([stream.status, stream.framing, stream.body.toString()], [200, 'until-close', 'abc'])
  assert.equal(stream.header('transfer-encoding'), undefined)
  assert.equal(await streaming.waitForServerEnd(), 'fin')

  await using keeping = await openRawClient(gateway.port)
  const kept = requestBytes('POST', '/v1/chat/completions', {
    body,
    httpVersion: '1.0',
    headers: [['Connection', 'keep-alive']],
  })
  await keeping.send(kept)
  assert.equal((await keeping.response('POST')).body.toString(), '{"n":1}')
  assert.equal(keeping.serverEnd, undefined)
  await keeping.send(requestBytes('POST', '/v1/chat/completions', { body, httpVersion: '1.0' }))
  assert.equal((await keeping.response('POST')).body.toString(), '{"n":2}')
  assert.equal(await keeping.waitForServerEnd(), 'fin')
  assert.ok((await recordedCalls(gateway, 3)).every((row) => row.status === 200))
})

const nothing = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

/** Sends the same request so many times, and reads no answer yet. */
function flood(port: number, requests: number): Socket {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => {}).write(nothing.repeat(requests))
  return socket
}

test('more requests than one read brings, all sent before the first answer is read, are all answered', async () => {
  const requests = 3000
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  const answer = await exchange(gateway.port, 'GET', '/x', { host: 'a' })
  const client = flood(gateway.port, requests)
  let received = 0
  for await (const bytes of client) {
    received += (bytes as Buffer).length
    if (received >= answer.byteLength * requests) break
  }
  assert.equal(received, answer.byteLength * requests)
})

for (const [clients, requests] of [
  [1, 1_000_000],
  [10, 100_000],
] as const) {
  const who = clients === 1 ? 'one client' : `${clients} clients`
  test(`${who} who pipeline without end and read nothing neither end the gateway nor keep others waiting`, async () => {
    await using upstream = await startSimulatedUpstream()
    await using gateway = await startGatewayProcess({
      upstream: upstream.baseUrl,
      nodeArgs: ['--max-old-space-size=100'],
    })
    const crowd = Array.from({ length: clients }, () => flood(gateway.port, requests))
    await using honest = await openRawClient(gateway.port)
    await honest.send(Buffer.concat([chat(0), chat(1), chat(2)]))
    for (let call = 0; call < 3; call++) assert.equal((await honest.response('POST')).status, 200)
    for (let look = 0; look < 50; look++) assert.equal((await gateway.health())['pid'], gateway.pid)
    for (const socket of crowd) socket.resetAndDestroy()
  })
}
