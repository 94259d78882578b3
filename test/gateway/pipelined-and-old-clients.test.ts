import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { stall, wait, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, jsonReply, responseHead } from '../support/response-bytes.ts'
import { type OwnUpstream, shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const body = '{"model":"m","messages":[]}'

const shared = await shareGateway()
const { gateway } = shared

function chat({ prefix }: OwnUpstream, call: number, httpVersion = '1.1'): Buffer {
  return requestBytes('POST', `${prefix}/v1/chat/completions?call=${call}`, { body, httpVersion })
}

test('pipelined requests are answered in their order, whichever upstream is faster', async () => {
  await using upstream = await shared.upstream({
    // Later calls would be answered sooner.
    reply: ({ target }) => {
      const call = Number(target.at(-1))
      return [wait((9 - call) * 4), ...jsonReply(200, { call })]
    },
  })
  await using client = await openRawClient(gateway.port)
  const calls = Array.from({ length: 10 }, (_, call) =>
    call % 3 === 1 ? requestBytes('GET', `${upstream.prefix}/v1/models?call=${call}`) : chat(upstream, call),
  )
  await client.send(Buffer.concat(calls))
  for (let call = 0; call < calls.length; call++) {
    const answer = await client.response('POST')
    assert.deepEqual(JSON.parse(answer.body.toString()), { call })
  }
  assert.equal(upstream.requests.length, calls.length)
  assert.ok((await upstream.recorded(calls.length)).every((row) => row.outcome === 'ok'))
})

test('a pipelining client that leaves frees everything', async () => {
  await using upstream = await shared.upstream(
    {
      reply: () => [
        write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
        write(chunkFrame('begun')),
        stall(),
      ],
    },
    { max_concurrent: 2 },
  )
  for (let round = 0; round < 10; round++) {
    const client = await openRawClient(gateway.port)
    await client.send(Buffer.concat([0, 1, 2, 3, 4].map((call) => chat(upstream, call))))
    await client.waitForBytes('begun')
    const seen = upstream.requests.at(-1)!
    if (round % 2 === 0) client.leave()
    else client.reset()
    assert.equal((await seen.connection.closed).by, 'client')
    await upstream.untilCalls()
  }
  const rows = await upstream.recorded(upstream.requests.length)
  assert.ok(rows.every((row) => row.outcome === 'client_disconnected'))
  assert.equal(complaintsOf(gateway), '')
})

test('an answer that is cut takes the pipelined requests behind it along, and they are not sent', async () => {
  await using upstream = await shared.upstream()
  upstream.replyOnce([
    write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
    write(chunkFrame('begun')),
    { do: 'cut' },
  ])
  await using client = await openRawClient(gateway.port)
  await client.send(Buffer.concat([chat(upstream, 0), chat(upstream, 1), chat(upstream, 2)]))
  const first = await client.response('POST')
  assert.deepEqual([first.status, first.complete], [200, false])
  await client.waitForServerEnd()
  assert.equal(client.received.length, 0, 'another answer behind a broken one')
  await upstream.untilCalls()
  assert.equal(upstream.requests.length, 1)
  await upstream.recorded(1)
})

test('HTTP/1.0 clients: a body without a length ends with the connection, one with a length may be followed', async () => {
  await using upstream = await shared.upstream()
  upstream.replyOnce(bodyReply(['a', 'b', 'c']), jsonReply(200, { n: 1 }), jsonReply(200, { n: 2 }))
  await using streaming = await openRawClient(gateway.port)
  await streaming.send(chat(upstream, 0, '1.0'))
  const stream = await streaming.response('POST')
  assert.deepEqual([stream.status, stream.framing, stream.body.toString()], [200, 'until-close', 'abc'])
  assert.equal(stream.header('transfer-encoding'), undefined)
  assert.equal(await streaming.waitForServerEnd(), 'fin')

  await using keeping = await openRawClient(gateway.port)
  const kept = requestBytes('POST', `${upstream.prefix}/v1/chat/completions`, {
    body,
    httpVersion: '1.0',
    headers: [['Connection', 'keep-alive']],
  })
  await keeping.send(kept)
  assert.equal((await keeping.response('POST')).body.toString(), '{"n":1}')
  assert.equal(keeping.serverEnd, undefined)
  await keeping.send(
    requestBytes('POST', `${upstream.prefix}/v1/chat/completions`, { body, httpVersion: '1.0' }),
  )
  assert.equal((await keeping.response('POST')).body.toString(), '{"n":2}')
  assert.equal(await keeping.waitForServerEnd(), 'fin')
  assert.ok((await upstream.recorded(3)).every((row) => row.status === 200))
})

test('more requests than one read brings, all sent before the first answer is read, are all answered', async () => {
  const requests = 3000
  await using upstream = await startSimulatedUpstream()
  await using own = await startGatewayProcess({ upstream: upstream.baseUrl })
  const answer = await exchange(own.port, 'GET', '/x', { host: 'a' })
  const client = connect(own.port, '127.0.0.1').pause()
  client.on('error', () => {}).write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
  let received = 0
  for await (const bytes of client) {
    received += (bytes as Buffer).length
    if (received >= answer.byteLength * requests) break
  }
  assert.equal(received, answer.byteLength * requests)
})
