import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { type ReplyStep, cut, reset, until, write } from '../support/reply-step.ts'
import { bodyReply, jsonReply, responseHead, sseEvent } from '../support/response-bytes.ts'
import type { SeenConnection, SeenRequest } from '../support/seen-request.ts'
import { type OwnUpstream, type SharedGateway, shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertWithin } from '../support/assert-within.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","messages":[]}' }

const clockDir = await makeTempDir()
after(() => clockDir[Symbol.asyncDispose]())

/** The clock of one of the gateways stands still until it is set. */
function setClock(ms: number): void {
  writeFileSync(clockDir.file('clock.new'), String(ms))
  renameSync(clockDir.file('clock.new'), clockDir.file('clock'))
}
setClock(0)

const shared = await shareGateway()
const still = await shareGateway({
  // A slot would cool until the clock says so.
  args: ['--slot-cooldown-ms', '0'],
  nodeArgs: ['--import', new URL('set-clock.ts', import.meta.url).href],
  env: { TOKENWEIR_SET_CLOCK: clockDir.file('clock') },
})

/** A call at the gateway whose clock runs. */
function call(upstream: OwnUpstream, method: string, path: string, parts = {}): Promise<RawResponse> {
  return exchange(shared.gateway.port, method, upstream.prefix + path, parts)
}

const upload = { headers: [['Content-Type', 'text/plain'] as const], body: 'u'.repeat(100_000) }

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

  for (const method of ['GET', 'HEAD'] as const) {
    test(`a kept connection that dies (${name}) under a ${method}: sent once more, and not met again`, async () => {
      await using upstream = await still.upstream({ reply })
      // No time passes: the next calls come sooner than what died so soon is used again.
      for (let call = 0; call < 4; call++) {
        // undici keeps no connection after a HEAD, so the first call is none.
        const answer = await exchange(
          still.gateway.port,
          call === 0 ? 'GET' : method,
          `${upstream.prefix}/v1/models?call=${call}`,
        )
        assert.deepEqual([answer.status, answer.complete], [200, true])
      }
      assert.deepEqual(
        upstream.requests.map((request) => request.target.at(-1)),
        // The second meets the connection of the first, which dies; after that none is used so soon.
        ['0', '1', '1', '2', '3'],
      )
      const rows = await upstream.recorded(4)
      assert.ok(rows.every((row) => row.outcome === 'ok'))
      assert.deepEqual(fieldsOf(rows, 'attempts'), [1, 2, 1, 1])
    })
  }

  test(`a kept connection that dies (${name}) under a GET with a body: the body is spent, so it is not sent again`, async () => {
    await using upstream = await shared.upstream({ reply })
    const withBody = { headers: [['Content-Type', 'text/plain'] as const], body: 'asked in a body' }
    assert.equal((await call(upstream, 'GET', '/v1/models')).status, 200)
    const second = await call(upstream, 'GET', '/v1/search', withBody)
    assert.deepEqual([second.status, second.header('x-should-retry')], [502, 'true'])
    assert.equal(upstream.requests.length, 2)
    const rows = await upstream.recorded(2)
    assert.deepEqual(fieldsOf(rows, 'attempts'), [1, 1])
  })

  for (const [path, parts] of [
    ['/v1/chat/completions', chat],
    ['/v1/files', upload],
  ] as const) {
    test(`a kept connection that dies (${name}) under a POST to ${path}: 502, to be tried again, never sent twice`, async () => {
      await using upstream = await shared.upstream({ reply })
      assert.equal((await call(upstream, 'POST', path, parts)).status, 200)
      const second = await call(upstream, 'POST', path, parts)
      assert.deepEqual(
        [second.status, second.header('x-tokenweir-error'), second.header('x-should-retry')],
        [502, 'upstream_unreachable', 'true'],
      )
      assert.equal(upstream.requests.length, 2)
      assert.equal((await call(upstream, 'POST', path, parts)).status, 200)
      const rows = await upstream.recorded(3)
      assert.deepEqual(fieldsOf(rows, 'outcome', 'failure_code', 'attempts'), [
        ['ok', null, 1],
        ['upstream_error', 'upstream_unreachable', 1],
        ['ok', null, 1],
      ])
    })
  }

  test(`an idle connection that the upstream ended (${name}) before the next call is not used for it`, async () => {
    await using upstream = await shared.upstream()
    for (let round = 0; round < 20; round++) {
      assert.equal((await call(upstream, 'POST', '/v1/chat/completions', chat)).status, 200)
      upstream.closeIdleConnections(name === 'FIN' ? 'fin' : 'reset')
      // The health report's way through the same gateway stands for time: what was sent before has arrived.
      await shared.gateway.health()
    }
    assert.equal(upstream.requests.length, 20)
    assert.ok((await upstream.recorded(20)).every((row) => row.outcome === 'ok'))
  })
}

test('calls in a row use one connection, and none that idled beyond the hint', async () => {
  await using upstream = await shared.upstream({
    // The last of five calls in a row gets the short one.
    reply: ({ index }) => jsonReply(200, {}, [['Keep-Alive', index < 4 ? 'timeout=60' : 'timeout=2']]),
  })
  for (let i = 0; i < 5; i++) await call(upstream, 'POST', '/v1/chat/completions', chat)
  assert.equal(upstream.connections.length, 1)
  // One second of the two is left unused; the gateway closes the connection by itself.
  const end = await upstream.connections[0]!.closed
  assert.equal(end.by, 'client')
  const idledMs = end.atMs - upstream.requests[4]!.replyEndAtMs!
  assertWithin(1999, idledMs, 'closing what idled')
  await call(upstream, 'POST', '/v1/chat/completions', chat)
  assert.equal(upstream.connections.length, 2)
})

test('a hint that leaves no time to spare, and `Connection: close`, end the connection with its answer', async () => {
  const headers = [
    ['Keep-Alive', 'timeout=1'],
    ['Connection', 'close'],
  ] as const
  await using upstream = await shared.upstream({
    reply: ({ index }) => jsonReply(200, {}, [headers[index % 2]!]),
  })
  for (let i = 0; i < 6; i++) {
    assert.equal((await call(upstream, 'POST', '/v1/chat/completions', chat)).status, 200)
  }
  assert.equal(upstream.connections.length, 6)
})

const deltas = [sseEvent({ choices: [{ index: 0, delta: { content: 'w' } }] }), sseEvent('[DONE]')]
const promised = jsonReply(200, {}, [['Keep-Alive', 'timeout=5, max=100']])
const streamed = bodyReply(deltas, { headers: [['Content-Type', 'text/event-stream']] })

/** From the last chunk to the FIN. */
const endsAfterMs = [0, 0.2, 1, 3, 40] as const

test('an upstream that ends connections soon after streams, unannounced: no call that follows at once fails', async () => {
  await using upstream = await still.upstream({
    reply: ({ target, index }) =>
      target.endsWith('stream') ? { steps: endsLater(endsAfterMs[index % 5]!) } : promised,
  })
  // No time passes, so that all calls follow at once.
  for (const clients of [1, 8]) {
    const statuses = await inParallel(Array.from({ length: clients }), clients, () =>
      streamsAndCalls(still, upstream, 96 / clients),
    )
    assert.deepEqual(new Set(statuses.flat()), new Set([200]))
  }
})

test('calls after streams go on using connections that the upstream keeps', async () => {
  await using upstream = await shared.upstream({ reply: () => streamed })
  // So long rest the first connections, until it is seen that they are kept.
  for (let i = 0; i < 6; i++) {
    await streamsAndCalls(shared, upstream, 1)
    await delay(60)
  }
  const before = upstream.connections.length
  assert.deepEqual(new Set(await streamsAndCalls(shared, upstream, 100)), new Set([200]))
  assert.equal(upstream.connections.length, before)
})

/** A stream, and the end of its connection; not by a timer, which would not do less than a millisecond. */
function* endsLater(afterMs: number): Generator<ReplyStep> {
  yield* streamed
  const fromMs = performance.now()
  while (performance.now() - fromMs < afterMs) yield until(setImmediate())
  yield cut()
}

/** Streams, each followed at once by a plain call on the same client connection. */
async function streamsAndCalls(
  { gateway }: SharedGateway,
  { prefix }: OwnUpstream,
  rounds: number,
): Promise<number[]> {
  await using client = await openRawClient(gateway.port)
  const statuses: number[] = []
  for (let i = 0; i < rounds; i++) {
    for (const target of ['/v1/chat/completions?stream', '/v1/chat/completions']) {
      await client.send(requestBytes('POST', prefix + target, chat))
      const answer = await client.response('POST')
      assert.equal(answer.complete, true)
      statuses.push(answer.status)
    }
  }
  return statuses
}

test('a call that says it is a retry gets a connection of its own', async () => {
  await using upstream = await shared.upstream()
  for (const count of ['0', '0', '1', '0', '2']) {
    const headers = [...chat.headers, ['x-stainless-retry-count', count] as const]
    await call(upstream, 'POST', '/v1/chat/completions', { ...chat, headers })
  }
  assert.deepEqual(
    upstream.requests.map((request) => request.connection.index),
    [0, 0, 1, 1, 2],
  )
})

test('an upstream that drops idle connections after 600 ms without a word: each loss teaches, and costs less', async () => {
  let nowMs = 0
  const usedAtMs = new Map<SeenConnection, number>()
  await using upstream = await still.upstream({
    reply: ({ connection }) => {
      const idledMs = nowMs - (usedAtMs.get(connection) ?? nowMs)
      usedAtMs.set(connection, nowMs)
      return idledMs > 600 ? [reset()] : jsonReply(200, {})
    },
  })
  const statuses: number[] = []
  for (const pauseMs of [0, 0, 1000, 900, 900, 700, 700, 650, 550]) {
    setClock((nowMs += pauseMs))
    statuses.push(
      (await exchange(still.gateway.port, 'POST', `${upstream.prefix}/v1/chat/completions`, chat)).status,
    )
  }
  // After 1000 ms lost, 800 seem safe, and after 700 lost 560.
  assert.deepEqual(statuses, [200, 200, 502, 200, 200, 502, 200, 200, 200])
  // What idled for less is used.
  assert.deepEqual(
    upstream.requests.map(({ connection }) => connection.index),
    [0, 0, 0, 1, 2, 2, 3, 4, 4],
  )
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
  const areClosed = (): boolean => upstream.connections.every(({ end }) => end !== undefined)
  await upstream.waitFor('all connections to be closed', areClosed, 30_000)
  assert.equal((await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)).status, 200)
})
