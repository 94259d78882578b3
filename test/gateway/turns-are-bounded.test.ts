import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { CallTimeline } from '../../src/gateway/recorder/recorder.ts'
import { ClientResponse } from '../../src/gateway/http/client-response.ts'
import { relay } from '../../src/gateway/call/relay.ts'
import type { RunningCall } from '../../src/gateway/call/running-call.ts'
import type { Transport, TransportRequest } from '../../src/gateway/upstream/transport.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilPastIsRead } from '../support/gateway-state.ts'
import { openRawClient } from '../support/raw-client.ts'
import { write } from '../support/reply-step.ts'
import { chunkFrame, lastChunk, streamHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const request: TransportRequest = {
  method: 'POST',
  path: '/',
  headers: [],
  body: null,
  bodyBytes: 0,
  freshConnection: false,
}
/** Measures nothing. */
const meter = { responseStart: () => {}, data: () => {}, end: () => {} }

test('of 10,000 chunks that are there at once, each turn of the event loop relays about a thousand', async () => {
  const chunks = Array.from({ length: 10_000 }, (_, index) => Buffer.from(`${index} `))
  const inTurns: number[] = []
  let sent = 0
  const upstream: Transport = {
    answeringProxy: null,
    close: () => Promise.resolve(),
    options: {
      connectTimeoutMs: 0,
      maxHeaderBytes: 0,
      firstByteTimeoutMs: 0,
      idleTimeoutMs: 0,
      connectRetryMs: 0,
      proxy: null,
    },
    send: (_request, attempt): void => {
      const push = (): void => {
        const first = sent
        while (sent < chunks.length && attempt.onData(chunks[sent]!)) sent++
        // What was answered with false was taken.
        if (sent < chunks.length) sent++
        inTurns.push(sent - first)
        if (sent === chunks.length) attempt.onComplete([])
      }
      queueMicrotask(() => {
        attempt.onHeaders(200, [], push, 'OK')
        push()
      })
    },
  }
  await using server = createServer((_req, res) => {
    const clock = new FakeClock()
    const client = new ClientResponse(res, 1000)
    const call = {
      client,
      newMeter: () => meter,
      timeline: new CallTimeline(0),
      clock,
      arrived: { head: { acceptsTrailers: false } },
      addedHeaders: () => [],
      answered: () => {},
    }
    void relay(call as unknown as RunningCall, request, upstream, client, {
      withholds: () => false,
      isFinal: () => false,
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const answer = await exchange((server.address() as AddressInfo).port, 'POST', '/')
  assert.equal(answer.body.toString(), chunks.join(''))
  assert.equal(answer.chunkSizes.length, chunks.length)
  assert.ok(Math.max(...inTurns) < 1100, inTurns.join(' '))
})

test('50,000 chunks in one breath of the upstream come out byte for byte, and framed as they were', async () => {
  const frames = Array.from({ length: 50_000 }, (_, index) => chunkFrame(`${index % 10}`))
  const body = Buffer.concat([...frames, lastChunk()])
  await using upstream = await startSimulatedUpstream({
    reply: () => [write(Buffer.concat([streamHead, body]))],
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await untilPastIsRead(gateway)
  await using client = await openRawClient(gateway.port)
  await client.send(requestBytes('POST', '/v1/chat/completions', { body: '{"model":"m"}' }))
  // Other calls are answered meanwhile.
  await client.waitForBytes(streamHead.length)
  assert.equal((await gateway.health())['status'], 'ok')
  await client.waitForBytes('\r\n0\r\n\r\n')
  const { received } = client
  assert.deepEqual(received.subarray(received.indexOf('\r\n\r\n') + 4), body)
})
