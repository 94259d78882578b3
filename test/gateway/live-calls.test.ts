/** What is told of calls under way, and how one is cancelled, over the gateway's control socket. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { LiveCall } from '../../src/api/live-calls.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilIdle } from '../support/gateway-state.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, stall, until, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, sseEvent, streamHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = '/v1/chat/completions'
const limitMs = 20_000

function startGateway(upstream: SimulatedUpstream, ...args: string[]): Promise<GatewayProcess> {
  return startGatewayProcess({ upstream: upstream.baseUrl, args: ['--slot-cooldown-ms', '0', ...args] })
}

/** Looks at the board until `probe` finds what it wants there. */
async function untilOnBoard<T>(
  gateway: GatewayProcess,
  what: string,
  probe: (calls: readonly LiveCall[]) => T | undefined,
): Promise<T> {
  const client = new ControlClient(gateway.directory)
  const deadline = performance.now() + limitMs
  for (;;) {
    const board = await client.live(limitMs)
    assert.ok(typeof board === 'object')
    const found = probe(board.calls)
    if (found !== undefined) return found
    if (performance.now() > deadline) assert.fail(`waited in vain for ${what}: ${JSON.stringify(board)}`)
    await delay(10)
  }
}

function untilState(gateway: GatewayProcess, model: string, state: LiveCall['state']): Promise<LiveCall> {
  return untilOnBoard(gateway, `${model} to be ${state}`, (calls) =>
    calls.find((call) => call.model === model && call.state === state),
  )
}

async function cancel(gateway: GatewayProcess, id: string): Promise<unknown> {
  return new ControlClient(gateway.directory).cancel(id, limitMs)
}

async function ask(gateway: GatewayProcess, model: string): Promise<RawClient> {
  const client = await openRawClient(gateway.port)
  const headers = [
    ['x-tokenweir-client', `client of ${model}`],
    ['x-tokenweir-session', `run of ${model}`],
  ] as const
  await client.send(requestBytes('POST', chat, { headers, body: JSON.stringify({ model, stream: true }) }))
  return client
}

function words(count: number): ReplyStep {
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  return write(Buffer.concat(Array.from({ length: count }, () => chunkFrame(event))))
}

test('each state of a call is told, with its place in the queue', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGateway(upstream, '--max-concurrent', '2', '--retry-429-max', '1')

  await using receiving = await openRawClient(gateway.port)
  await receiving.send(`POST ${chat} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"model":`)
  const received = await untilOnBoard(gateway, 'a call that is received', (calls) => calls[0])
  assert.deepEqual(
    [received.state, received.model, received.request_bytes, received.queue_place, received.receive_ms],
    ['receiving', null, 9, null, null],
  )
  assert.equal(received.state_since, received.started_at)

  const more = Promise.withResolvers<void>()
  upstream.replyOnce([write(streamHead), words(3), until(more.promise), words(40), stall()])
  await using streaming = await ask(gateway, 'streams')
  await streaming.waitForBytes('"w"')
  const streamed = await untilOnBoard(gateway, 'three chunks', (calls) =>
    calls.find(({ chunks }) => chunks === 3),
  )
  assert.equal(streamed.state, 'streaming')
  assert.equal(streamed.upstream, upstream.origin.replace('http://', ''))
  assert.deepEqual(
    [streamed.client, streamed.session, streamed.method, streamed.path],
    ['client of streams', 'run of streams', 'POST', chat],
  )
  assert.ok(streamed.response_bytes > 100 && streamed.ttfb_ms !== null && streamed.ttft_ms !== null)
  assert.ok(streamed.state_since >= streamed.started_at)
  more.resolve()
  const faster = await untilOnBoard(gateway, 'all chunks', (calls) =>
    calls.find(({ chunks }) => chunks === 43),
  )
  assert.ok(faster.chunks_per_s !== null && faster.chunks_per_s > 0)
  // Nothing more comes: the present speed falls to nothing.
  await untilOnBoard(gateway, 'no speed', (calls) =>
    calls.find((call) => call.chunks === 43 && call.chunks_per_s === 0),
  )

  upstream.replyOnce([stall()])
  await using waiting = await ask(gateway, 'waits')
  const waited = await untilState(gateway, 'waits', 'waiting')
  assert.deepEqual([waited.chunks, waited.chunks_per_s, waited.ttfb_ms], [0, null, null])

  const queue = [await ask(gateway, 'q')]
  await untilCalls(gateway, { active: 2, queued: 1 })
  for (const model of ['r', 's']) {
    queue.push(await ask(gateway, model))
    await untilCalls(gateway, { active: 2, queued: queue.length })
  }
  const placesOf = (calls: readonly LiveCall[]): string =>
    calls
      .filter(({ state }) => state === 'queued')
      .map(({ model, queue_place: place }) => `${model} ${place}`)
      .join(', ')
  const seen = await untilOnBoard(gateway, 'three in the queue', (calls) => placesOf(calls))
  assert.equal(seen, 'q 1, r 2, s 3')
  queue[1]!.reset()
  await untilOnBoard(gateway, 'places to move up', (calls) => placesOf(calls) === 'q 1, s 2' || undefined)
  for (const client of queue) client.reset()
  // None of them is to have the slot in its place.
  await untilCalls(gateway, { active: 2, queued: 0 })
  waiting.reset()
  await untilCalls(gateway, { active: 1, queued: 0 })

  upstream.replyOnce(jsonReply(429, {}, [['retry-after', '30']]))
  await using backing = await ask(gateway, 'again')
  const backed = await untilState(gateway, 'again', 'backing_off')
  assert.ok(backed.state_since >= backed.started_at && backed.queue_place === null)
  await cancel(gateway, backed.id)
  assert.equal((await backing.response()).status, 503)
})

test('a cancelled call is answered 503 while it waits, and cut once its answer has begun', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGateway(upstream, '--max-concurrent', '1')

  await using receiving = await openRawClient(gateway.port)
  await receiving.send(`POST ${chat} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"model":`)
  const { id: first } = await untilOnBoard(gateway, 'a call that is received', (calls) => calls[0])
  assert.deepEqual(await cancel(gateway, first), { cancelled: true })
  const refused = [await receiving.response()]

  upstream.replyOnce([stall()])
  await using waiting = await ask(gateway, 'waits')
  const { id: waitingId } = await untilState(gateway, 'waits', 'waiting')
  await using queued = await ask(gateway, 'queues')
  const { id: queuedId } = await untilState(gateway, 'queues', 'queued')
  assert.deepEqual(await cancel(gateway, queuedId), { cancelled: true })
  refused.push(await queued.response())
  assert.deepEqual(await cancel(gateway, waitingId), { cancelled: true })
  refused.push(await waiting.response())
  for (const response of refused) {
    assert.equal(response.status, 503)
    assert.equal(response.header('x-should-retry'), 'false')
    assert.equal(response.header('x-tokenweir-error'), 'cancelled')
    const row = await rowOf(gateway, response)
    assert.deepEqual([row.status, row.outcome, row.failure_code], [503, 'refused', 'cancelled'])
  }
  assert.equal((await upstream.requests[0]!.connection.closed).by, 'client')

  upstream.replyOnce([write(streamHead), words(1), stall()])
  await using streaming = await ask(gateway, 'streams')
  await streaming.waitForBytes('"w"')
  const { id } = await untilState(gateway, 'streams', 'streaming')
  assert.deepEqual(await cancel(gateway, id), { cancelled: true })
  const cut = await streaming.response()
  assert.deepEqual([cut.status, cut.complete], [200, false])
  assert.equal((await upstream.requests[1]!.connection.closed).by, 'client')
  await untilIdle(gateway)
  const rows = await recordedCalls(gateway, 4)
  assert.deepEqual(fieldsOf(rows.slice(-1), 'status', 'outcome', 'failure_code', 'chunks'), [
    [200, 'gateway_error', 'cancelled', 1],
  ])
  // The one slot is free again, and what is over cannot be cancelled.
  assert.equal((await exchange(gateway.port, 'POST', chat, { body: '{"model":"m"}' })).status, 200)
  assert.deepEqual(await cancel(gateway, id), { cancelled: false })
  assert.deepEqual(await cancel(gateway, '0123456789a'), { cancelled: false })
})

test('a call whose client takes no byte is cancelled at once, and twice is as once', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGateway(
    upstream,
    '--max-concurrent',
    '1',
    '--client-stall-timeout-ms',
    '60000',
  )
  const flood = Buffer.alloc(1 << 20, 'x')
  upstream.replyOnce([
    write(streamHead),
    ...Array.from({ length: 64 }, () => write(chunkFrame(flood))),
    stall(),
  ])
  await using client = await ask(gateway, 'floods')
  client.stopReading()
  let lastBytes = -1
  const { id } = await untilOnBoard(gateway, 'a stream that stands still', (calls) => {
    const still = calls.find(({ response_bytes: bytes }) => bytes > 1 << 20 && bytes === lastBytes)
    lastBytes = calls[0]?.response_bytes ?? -1
    return still
  })
  const answers = await Promise.all([cancel(gateway, id), cancel(gateway, id)])
  assert.deepEqual(answers[0], { cancelled: true })
  await untilIdle(gateway)
  const rows = await recordedCalls(gateway, 1)
  assert.deepEqual([rows[0]!.outcome, rows[0]!.failure_code], ['gateway_error', 'cancelled'])
  await untilOnBoard(gateway, 'an empty board', (calls) => calls.length === 0 || undefined)
})

test('of more than a thousand calls the oldest are told, and how many there are besides', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => ({ steps: [stall()] }) })
  await using gateway = await startGateway(upstream, '--max-concurrent', '10')
  await using clients = new AsyncDisposableStack()
  for (let made = 0; made < 1010; made += 101) {
    const some = await Promise.all(Array.from({ length: 101 }, (_, at) => ask(gateway, `${made + at}`)))
    for (const client of some) clients.use(client)
    await untilCalls(gateway, { active: 10, queued: made + 91 })
  }
  const board = await new ControlClient(gateway.directory).live(limitMs)
  assert.ok(typeof board === 'object')
  assert.deepEqual([board.calls.length, board.more], [1000, 10])
  const ids = board.calls.map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted())
  assert.deepEqual(
    fieldsOf(board.calls, 'queue_place'),
    Array.from({ length: 1000 }, (_, at) => (at < 10 ? null : at - 9)),
  )
})
