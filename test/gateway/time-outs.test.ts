/**
 * The time limits that there are. That no other cuts a quiet call (Node's and undici's own are 300 s) is tried
 * in real time by `test/faults/long-silence.ts`, which takes too long for the suite.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, stall, until, wait, write } from '../support/reply-step.ts'
import {
  chunkFrame,
  jsonReply,
  lastChunk,
  responseHead,
  sseEvent,
  streamHead,
} from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { leavesWhileConnecting } from './leaves-while-connecting.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","stream":true}' }
const event = write(chunkFrame(sseEvent({ choices: [{ index: 0, delta: { content: 'w' } }] })))
const end = write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()]))

test('the first byte has its limit, the rest of the answer another, and each piece starts it anew', async () => {
  // So much longer than what has to come in time takes, as a busy machine may stand still.
  const firstByteMs = 1500
  const idleMs = 2000
  const pieces = Array.from({ length: 5 }, (): ReplyStep[] => [wait(idleMs / 4), event]).flat()
  const replies: Readonly<Record<string, readonly ReplyStep[]>> = {
    late: [stall()],
    quiet: [write(streamHead), event, stall()],
    slow: [write(streamHead), ...pieces, end],
  }
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => replies[new URL(target, 'http://upstream').search.slice(1)],
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--first-byte-timeout-ms', String(firstByteMs), '--idle-timeout-ms', String(idleMs)],
  })
  const answers = await inParallel(Object.keys(replies), 3, (name) =>
    exchange(gateway.port, 'POST', `/v1/chat/completions?${name}`, chat),
  )
  const [late, quiet, slow] = answers as [RawResponse, RawResponse, RawResponse]
  assert.deepEqual([late.status, late.header('x-tokenweir-error')], [504, 'upstream_timeout'])
  assert.deepEqual([quiet.status, quiet.complete], [200, false])
  assert.deepEqual([slow.status, slow.complete], [200, true])
  const rows = await Promise.all(answers.map((answer) => rowOf(gateway, answer)))
  await recordedCalls(gateway, 3)
  assert.deepEqual(fieldsOf(rows, 'outcome', 'failure_code', 'status', 'chunks'), [
    ['upstream_error', 'upstream_timeout', 504, null],
    ['upstream_cut', 'upstream_timeout', 200, 1],
    ['ok', null, 200, 5],
  ])
  assert.ok(rows[0]!.duration_ms! >= firstByteMs && rows[1]!.duration_ms! >= idleMs)
  assert.ok(rows[2]!.duration_ms! > idleMs)
  for (const request of upstream.requests.filter(({ target }) => !target.endsWith('slow'))) {
    assert.equal((await request.connection.closed).by, 'client')
  }
})

test('a client that is slow, not the upstream, is no reason for the idle time-out', async () => {
  const blocks = Array.from({ length: 120 }, () => write(chunkFrame(Buffer.alloc(65_536, 'x'))))
  await using upstream = await startSimulatedUpstream({
    reply: () => [
      write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
      ...blocks,
      write(lastChunk()),
    ],
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    // So long a gateway that hardly gets to run, or this upstream, may stand still before and after.
    args: ['--idle-timeout-ms', '2000'],
  })
  await using client = await openRawClient(gateway.port)
  client.stopReading()
  await client.send(requestBytes('GET', '/v1/files/large'))
  await upstream.waitForRequest(0)
  // Well past the limit, told by a call that waits for as long.
  upstream.replyOnce([wait(3000), ...jsonReply(200, {})])
  await exchange(gateway.port, 'GET', '/v1/models')
  client.resumeReading()
  const answer = await client.response()
  assert.deepEqual([answer.complete, answer.body.length], [true, 120 * 65_536])
  assert.ok((await recordedCalls(gateway, 2)).every((row) => row.outcome === 'ok'))
})

/** A listener that accepts nobody: once its backlog is full, a connection attempt gets no answer at all. */
const deafListener = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port), () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })
  })`

test('an upstream that does not take the connection: 502 after the connect time-out', async () => {
  using cleanup = new DisposableStack()
  const child = spawn(process.execPath, ['-e', deafListener], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanup.defer(() => child.kill('SIGKILL'))
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(text.toString())
  await using first = await openRawClient(port)
  await using second = await openRawClient(port)
  const start = (timeoutMs: number): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream: `http://127.0.0.1:${port}/v1`,
      args: ['--connect-timeout-ms', String(timeoutMs)],
    })
  await using gateway = await start(600)
  const answers = await inParallel([1, 2], 2, () =>
    exchange(gateway.port, 'POST', '/v1/chat/completions', chat),
  )
  for (const answer of answers) {
    assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_unreachable'])
  }
  const rows = await recordedCalls(gateway, 2)
  assert.deepEqual(fieldsOf(rows, 'outcome'), ['upstream_error', 'upstream_error'])
  // Who leaves meanwhile frees the slot at once.
  await using patient = await start(60_000)
  await leavesWhileConnecting(patient)
  assert.equal(first.serverEnd ?? second.serverEnd, undefined)
})

test('a call with 300 kB that waits in the queue comes to its turn whole', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, {})])
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1'],
  })
  const large = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(300_000) }] })
  const holder = exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  await upstream.waitForRequest(0)
  const waiter = exchange(gateway.port, 'POST', '/v1/chat/completions', { ...chat, body: large })
  await untilCalls(gateway, { active: 1, queued: 1 })
  gate.resolve()
  assert.equal((await holder).status, 200)
  assert.equal((await waiter).status, 200)
  assert.equal(upstream.requests[1]!.body.toString(), large)
})
