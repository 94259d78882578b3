import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../../bench/process-figures.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { complaintsOf, untilIdle } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, wait, write } from '../support/reply-step.ts'
import { type HeaderLines, bodyReply, chunkFrame, responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const block = chunkFrame(Buffer.alloc(65_536, 'x'))
const chat = requestBytes('POST', '/v1/chat/completions', {
  headers: [['Content-Type', 'application/json']],
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
})

test('clients that read nothing: the upstream is held back, memory bounded, they are cut off, others served', async () => {
  const slots = 16
  // Long enough that all are stalled before the first of them is cut off, however busy the machine is.
  const stallTimeoutMs = 3000
  const written: number[] = []
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', String(slots + 1), '--client-stall-timeout-ms', String(stallTimeoutMs)],
  })
  await exchange(gateway.port, 'GET', '/v1/models')
  const beforeMb = residentBytes(gateway.pid) / 1e6
  function* endless(index: number): Generator<ReplyStep> {
    yield write(responseHead(200, [['Transfer-Encoding', 'chunked']]))
    for (written[index] = 0; ; written[index]++) yield write(block)
  }
  const clients = await inParallel(Array.from({ length: slots }), slots, async (_, index) => {
    const client = await openRawClient(gateway.port)
    client.stopReading()
    upstream.replyOnce({ steps: endless(index) })
    await client.send(chat)
    return client
  })
  await upstream.waitForInFlight(slots)
  let highestMb = 0
  let others = 0
  // Others are served all the while, until the last of the stalled clients is cut off.
  while (upstream.inFlight > 0) {
    const answer = await exchange(gateway.port, 'POST', '/v1/embeddings', { body: '{"input":"a"}' })
    assert.equal(answer.status, 200)
    others++
    highestMb = Math.max(highestMb, residentBytes(gateway.pid) / 1e6)
  }
  await untilIdle(gateway)
  // What the kernel's buffers on both sides of the gateway take; beyond it nothing was asked of the upstream.
  for (const blocks of written) assert.ok(blocks * 65_536 < 24e6, `${blocks} blocks`)
  // Mostly garbage of the first seconds; without the brake it would be all that the loopback can carry.
  assert.ok(highestMb - beforeMb < 300, `the gateway grew from ${beforeMb} to ${highestMb} MB`)
  const rows = await recordedCalls(gateway, 1 + slots + others)
  const stalled = rows.filter((row) => row.failure_code === 'client_stalled')
  assert.equal(stalled.length, slots)
  for (const row of stalled) {
    assert.deepEqual([row.outcome, row.status, row.failed], ['client_disconnected', 200, false])
    assert.ok(row.duration_ms! >= stallTimeoutMs * 0.9, `${row.duration_ms} ms`)
  }
  for (const client of clients) {
    client.resumeReading()
    assert.equal(await client.waitForServerEnd(), 'reset')
  }
  assert.equal(complaintsOf(gateway), '')
})

test('a slow client that goes on reading is never cut off, however long it takes', async () => {
  const blockCount = 320
  const stallTimeoutMs = 2400
  await using upstream = await startSimulatedUpstream({
    reply: () => bodyReply(Array.from({ length: blockCount }, () => Buffer.alloc(65_536, 'x'))),
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--client-stall-timeout-ms', String(stallTimeoutMs)],
  })
  await using client = await openRawClient(gateway.port)
  await client.send(chat)
  const startedMs = performance.now()
  // The pace is what is tested: a pause well below the limit, and steps that Linux tells a writer of. It calls a
  // socket writable again only when a third of its buffer, which grows to four megabytes, is free.
  while (client.received.length < 14e6) {
    const goal = client.received.length + 1_000_000
    client.resumeReading()
    await client.waitForBytes(goal)
    client.stopReading()
    await delay(stallTimeoutMs / 6)
  }
  assert.ok(performance.now() - startedMs > stallTimeoutMs * 2)
  client.resumeReading()
  // The rest is only counted until it is here: a client that looks at all of it with every piece stalls in earnest.
  await client.waitForBytes(blockCount * 65_536)
  const answer = await client.response('POST')
  assert.deepEqual([answer.complete, answer.body.length], [true, blockCount * 65_536])
  const [row] = await recordedCalls(gateway, 1)
  assert.deepEqual([row?.status, row?.response_bytes], [200, blockCount * 65_536])
  assert.equal(complaintsOf(gateway), '')
})

/** How many bytes a connection takes when nobody reads at its other end. */
async function kernelRoom(): Promise<number> {
  const server = createServer((socket) => socket.pause())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const socket = connect(typeof address === 'object' ? address!.port : 0, '127.0.0.1')
  const piece = Buffer.alloc(16_384)
  while (socket.connecting || socket.writableLength < 1e6) {
    if (!socket.connecting) socket.write(piece)
    await new Promise(setImmediate)
  }
  const room = socket.bytesWritten - socket.writableLength
  socket.destroy()
  server.close()
  return room
}

/** Answers that end at many points about where a client that reads nothing fills up. */
async function lengthsAroundFull(step: number, spread: number): Promise<number[]> {
  const room = await kernelRoom()
  const lengths: number[] = []
  for (let length = room - spread; length < room + spread; length += step) lengths.push(length)
  return lengths
}

test('a client that stalls on the last few bytes is cut off as well, whatever is left', async () => {
  // Less than 16 kB left is less than what makes Node ask for a pause.
  const lengths = await lengthsAroundFull(10_000, 150_000)
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => {
      const [, length, end] = /(\d+)-(\w+)/.exec(target)!
      const pieces = Array.from({ length: Math.ceil(Number(length) / 2000) }, () =>
        write(chunkFrame(Buffer.alloc(2000, 'x'))),
      )
      const head = write(responseHead(200, [['Transfer-Encoding', 'chunked']]))
      return [head, ...pieces, end === 'cut' ? cut() : write('0\r\n\r\n')]
    },
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--client-stall-timeout-ms', '700'],
  })
  const targets = lengths.map((length, index) => `/v1/models/${length}-${index % 2 === 0 ? 'cut' : 'end'}`)
  const clients = await inParallel(targets, 20, async (target) => {
    const client = await openRawClient(gateway.port)
    client.stopReading()
    await client.send(requestBytes('GET', target))
    return client
  })
  const rows = await recordedCalls(gateway, clients.length)
  const stalled = rows.filter((row) => row.failure_code === 'client_stalled').length
  assert.ok(stalled > 0, 'none was stuck')
  for (const client of clients) client.leave()
})

test('an upstream that dies while a slow client holds its answer up harms nobody else', async () => {
  // undici's parser is paused then; an answer that says `Connection: close` takes another path through it.
  const lengths = await lengthsAroundFull(80_000, 600_000)
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => {
      const [, length, how] = /(\d+)-(\w+)$/.exec(target) ?? []
      if (length === undefined) return undefined
      const pieces = Array.from({ length: Math.ceil(Number(length) / 10_000) }, () =>
        write(chunkFrame(Buffer.alloc(10_000, 'x'))),
      )
      const headers: HeaderLines = [
        ['Transfer-Encoding', 'chunked'],
        ['Connection', 'close'],
      ]
      const end = how === 'reset' ? reset() : cut()
      return [write(responseHead(200, headers)), ...pieces, wait(50), end]
    },
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--client-stall-timeout-ms', '700'],
  })
  const targets = lengths.flatMap((length) => [`/v1/files/${length}-reset`, `/v1/files/${length}-cut`])
  const clients = await inParallel(targets, 10, async (target) => {
    const client = await openRawClient(gateway.port)
    client.stopReading()
    await client.send(requestBytes('GET', target))
    return client
  })
  const rows = await recordedCalls(gateway, targets.length)
  assert.ok(rows.every((row) => row.outcome === 'upstream_cut' || row.failure_code === 'client_stalled'))
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
  assert.equal(complaintsOf(gateway), '')
  for (const client of clients) client.leave()
})
