import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertWithin } from '../support/assert-within.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'

/** An upstream that answers a POST only when the test lets it, by the name in the request's body. */
interface HeldUpstream extends AsyncDisposable {
  readonly upstream: SimulatedUpstream
  answer(name: string): void
  /** Names of the POSTs in the order in which they arrived. */
  readonly arrived: readonly string[]
}

async function startHeldUpstream(): Promise<HeldUpstream> {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gateOf = (name: string): PromiseWithResolvers<void> => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, gate)
    return gate
  }
  const steps = function* (request: SeenRequest): Generator<ReplyStep> {
    if (request.method === 'POST') yield until(gateOf(nameOf(request)).promise)
    yield* jsonReply(200, { model: 'm' })
  }
  const upstream = await startSimulatedUpstream({ reply: (request) => ({ steps: steps(request) }) })
  return {
    upstream,
    answer: (name) => gateOf(name).resolve(),
    get arrived() {
      return upstream.requests.filter((request) => request.method === 'POST').map(nameOf)
    },
    [Symbol.asyncDispose]: () => upstream.close(),
  }
}

function nameOf(request: SeenRequest): string {
  return String(request.json()['model'])
}

function post(name: string): Buffer {
  return requestBytes('POST', '/v1/chat/completions', { body: JSON.stringify({ model: name }) })
}

/** Asks until the figures are these. */
async function waitForFigures(
  gateway: GatewayProcess,
  wanted: Readonly<Record<string, number>>,
): Promise<void> {
  await untilHealth(gateway, JSON.stringify(wanted), ({ rate_limiter: limiter }) => {
    const figures = asRecord(limiter)
    return Object.entries(wanted).every(([name, value]) => figures[name] === value)
  })
}

/** Sends calls to a gateway of one slot, each once the one before runs or waits. */
async function sendInLine(
  gateway: GatewayProcess,
  line: readonly (readonly [client: RawClient, name: string])[],
): Promise<void> {
  for (const [queued, [client, name]] of line.entries()) {
    await client.send(post(name))
    await waitForFigures(gateway, { active: 1, queued })
  }
}

test('of six calls at two slots, never more than two are at the upstream, in the order of arrival', async () => {
  await using held = await startHeldUpstream()
  const { upstream } = held
  await using gateway = await startGatewayProcess({
    upstream: upstream.origin,
    args: ['--max-concurrent', '2', '--slot-cooldown-ms', '20'],
  })
  await using stack = new AsyncDisposableStack()
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const clients = new Map<string, RawClient>()
  const fixed = { max_concurrent: 2, slot_cooldown_ms: 20, total_retries_429: 0 }
  await waitForFigures(gateway, {
    ...fixed,
    active: 0,
    queued: 0,
    total_admitted: 0,
    total_queued: 0,
    peak_active: 0,
  })
  for (const [i, name] of names.entries()) {
    const client = stack.use(await openRawClient(gateway.port))
    clients.set(name, client)
    await client.send(post(name))
    const active = Math.min(i + 1, 2)
    const queued = Math.max(0, i - 1)
    await waitForFigures(gateway, {
      ...fixed,
      active,
      queued,
      total_admitted: active,
      total_queued: queued,
      peak_active: active,
    })
  }
  await upstream.waitForInFlight(2)

  // Every other method passes at once, and is counted nowhere.
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200)
  assert.equal((await exchange(gateway.port, 'DELETE', '/v1/files/f')).status, 200)
  await waitForFigures(gateway, { active: 2, queued: 4, total_admitted: 2, total_queued: 4, peak_active: 2 })

  for (const [i, name] of names.entries()) {
    held.answer(name)
    assert.equal((await clients.get(name)!.response('POST')).status, 200)
    const left = names.length - i - 1
    await waitForFigures(gateway, {
      ...fixed,
      active: Math.min(2, left),
      queued: Math.max(0, left - 2),
      total_admitted: Math.min(names.length, i + 3),
      total_queued: 4,
      peak_active: 2,
    })
  }
  assert.deepEqual(held.arrived, names)
  // The DELETE and the GET came beside two held calls.
  assert.ok(upstream.peakInFlight <= 3)

  const rows = (await recordedCalls(gateway, 8)).filter((row) => row.method === 'POST')
  assert.deepEqual(
    fieldsOf(rows, 'model', 'outcome'),
    names.map((name) => [name, 'ok']),
  )
  for (const row of rows) {
    const waited = !['a', 'b'].includes(row.model ?? '')
    if (waited) assert.ok(row.queue_ms! >= 20, `${row.model} waited ${row.queue_ms} ms`)
    else assertWithin(1000, row.queue_ms!, `the wait of ${row.model}`)
    assert.ok(row.queue_ms! <= row.duration_ms!)
  }
})

test('beyond --queue-limit a call is sent away with 503, and --queue-timeout-ms ends a wait', async () => {
  await using held = await startHeldUpstream()
  await using gateway = await startGatewayProcess({
    upstream: held.upstream.origin,
    args: ['--max-concurrent', '1', '--queue-limit', '1'],
  })
  await using impatient = await startGatewayProcess({
    upstream: held.upstream.origin,
    args: ['--max-concurrent', '1', '--queue-timeout-ms', '700'],
  })
  await using holding = await openRawClient(impatient.port)
  await holding.send(post('holding'))
  await waitForFigures(impatient, { active: 1, queued: 0 })
  await held.upstream.waitForRequest(0)
  await using running = await openRawClient(gateway.port)
  await using waiting = await openRawClient(gateway.port)
  await sendInLine(gateway, [
    [running, 'running'],
    [waiting, 'waiting'],
  ])

  const beyond = await exchange(gateway.port, 'POST', '/v1/embeddings', { body: '{"model":"beyond"}' })
  assert.equal((await exchange(gateway.port, 'GET', '/v1/models')).status, 200, 'no slot is needed')
  const tooLong = await exchange(impatient.port, 'POST', '/v1/chat/completions', { body: '{"model":"late"}' })
  for (const [response, code] of [
    [beyond, 'queue_full'],
    [tooLong, 'queue_timeout'],
  ] as const) {
    assert.equal(response.status, 503)
    assert.equal(response.header('x-tokenweir-error'), code)
    assert.match(response.header('retry-after') ?? '', /^[1-9]\d{0,2}$/)
    const error = asRecord(parseRecord(response.body.toString())['error'])
    assert.deepEqual([error['type'], error['param'], error['code']], ['server_error', null, code])
  }
  await waitForFigures(gateway, { active: 1, queued: 1, total_admitted: 1, total_queued: 1 })
  await waitForFigures(impatient, { active: 1, queued: 0, total_admitted: 1, total_queued: 1 })
  for (const [name, client] of [
    ['holding', holding],
    ['running', running],
    ['waiting', waiting],
  ] as const) {
    held.answer(name)
    assert.equal((await client.response('POST')).status, 200)
  }
  assert.deepEqual(held.arrived, ['holding', 'running', 'waiting'])

  const rowBeyond = await rowOf(gateway, beyond)
  assert.deepEqual(
    [rowBeyond.outcome, rowBeyond.failure_code, rowBeyond.status, rowBeyond.call_type, rowBeyond.model],
    ['refused', 'queue_full', 503, 'embedding', 'beyond'],
  )
  assert.deepEqual([rowBeyond.attempts, rowBeyond.ttfb_ms], [0, null])
  const rowTooLong = await rowOf(impatient, tooLong)
  assert.deepEqual(
    [rowTooLong.outcome, rowTooLong.failure_code, rowTooLong.status, rowTooLong.model],
    ['refused', 'queue_timeout', 503, 'late'],
  )
  assert.ok(rowTooLong.queue_ms! >= 690, `${rowTooLong.queue_ms} ms`)
  await recordedCalls(gateway, 4)
  await recordedCalls(impatient, 2)
})
