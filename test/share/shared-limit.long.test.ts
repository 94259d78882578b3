import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange, whenOpen } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { connect } from '../../src/share/postgres.ts'
import { ControlClient } from '../../src/control/control-client.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { asRecord, type JsonRecord } from '../support/json-record.ts'
import { type ReplyStep, until, wait } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'
import { startTcpProxy } from './tcp-proxy.ts'
import { eventually } from '../support/eventually.ts'

const max = 4
let postgres: Postgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres[Symbol.asyncDispose]())

interface GatewayOptions {
  readonly args?: readonly string[]
  readonly url: string
}

function startGateway(
  upstream: SimulatedUpstream,
  { args = [], url }: GatewayOptions,
): Promise<GatewayProcess> {
  const shared = ['--share', '--max-concurrent', String(max), '--slot-cooldown-ms', '0']
  return startGatewayProcess({
    upstream: upstream.baseUrl,
    args: [...shared, ...args],
    env: { TOKENWEIR_SHARE: url },
  })
}

async function call({
  baseUrl,
}: Pick<GatewayProcess, 'baseUrl'>): Promise<{ status: number; code: string | null }> {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'a', messages: [{ role: 'user', content: 'x' }] }),
  })
  await response.text()
  return { status: response.status, code: response.headers.get('x-tokenweir-error') }
}

/** Clients that call again and again. The returned function ends them, and resolves to what they were answered: a status, or the code of an error. */
function load(
  gateway: Pick<GatewayProcess, 'baseUrl'>,
  clients: number,
): () => Promise<ReadonlySet<number | string>> {
  const over = new AbortController()
  const answers = new Set<number | string>()
  const calls = Promise.all(
    Array.from({ length: clients }, async () => {
      while (!over.signal.aborted) {
        const { status, code } = await call(gateway)
        answers.add(code ?? status)
      }
    }),
  )
  // A test that fails stops its gateways, and its calls fail then: the test's own failure is reported.
  calls.catch(() => {})
  return async () => {
    over.abort()
    await calls
    return answers
  }
}

async function shared(gateway: GatewayProcess): Promise<JsonRecord> {
  return asRecord((await gateway.health())['shared'])
}

/** An upstream each of whose calls takes so long. */
function slowUpstream(durationMs: number): Promise<SimulatedUpstream> {
  return startSimulatedUpstream({ reply: () => answerAfter(durationMs) })
}

function answerAfter(durationMs: number): ReplyStep[] {
  const choices = [{ message: { role: 'assistant', content: 'a' } }]
  return [wait(durationMs), ...jsonReply(200, { choices, usage: {} })]
}

test('two gateways have one limit, which both tell; who waits is served wherever a slot becomes free', async () => {
  await using upstream = await slowUpstream(30)
  const url = await postgres.database('limit_two')
  await using one = await startGateway(upstream, { url })
  await using other = await startGateway(upstream, { url })
  const calls = Array.from({ length: 80 }, (_, at) => call(at % 2 === 0 ? one : other))
  const answers = await Promise.all(calls)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.ok(upstream.peakInFlight <= max, `${upstream.peakInFlight} at once`)
  assert.equal(upstream.peakInFlight, max)
  await eventually('both are known, nothing is held', async () => {
    const { gateways, held } = await shared(one)
    return (gateways === 2 && held === 0) || { gateways, held }
  })
  const { lease_s: leaseS, engine } = await shared(other)
  assert.deepEqual([leaseS, engine], [600, 'ok'])
})

test('a start with another limit is refused in words, and a change on one is a change for all', async () => {
  await using upstream = await slowUpstream(10)
  const url = await postgres.database('limit_other')
  await using one = await startGateway(upstream, { url })
  await using refused = startCommandProcess({
    args: ['gateway', '--share', '--max-concurrent', '9', '--port', '0', '--upstream', upstream.baseUrl],
    directory: one.directory,
    env: { TOKENWEIR_SHARE: url, TOKENWEIR_DB: `${one.directory}/other/telemetry.db` },
  })
  const { code } = await refused.exited
  assert.notEqual(code, 0)
  assert.match(refused.stderr, /share 4 slots, and --max-concurrent says 9/)
  assert.ok(!refused.stderr.includes('postgres://'))

  await using other = await startGateway(upstream, { url })
  await new ControlClient(one.directory).setOptions({ max_concurrent: 7 })
  const limitOf = async (gateway: GatewayProcess): Promise<unknown> =>
    asRecord((await gateway.health())['rate_limiter'])['max_concurrent']
  for (const gateway of [one, other])
    await eventually('it has the limit', async () => (await limitOf(gateway)) === 7)
})

test('what a killed gateway held is free within seconds, long before its lease ends', async () => {
  await using upstream = await slowUpstream(120_000)
  const url = await postgres.database('limit_killed')
  await using one = await startGateway(upstream, { url })
  await using other = await startGateway(upstream, { url })
  const lost = Array.from({ length: max }, () => call(one).catch(() => null))
  await upstream.waitForInFlight(max)
  void call(other).catch(() => null)
  await eventually('it waits', async () => asRecord((await other.health())['rate_limiter'])['queued'] === 1)
  assert.equal(upstream.inFlight, max)
  await one.kill9()
  await Promise.all(lost)
  await upstream.waitFor('the one that waited is served', () => upstream.requests.length === max + 1, 30_000)
  assert.ok(upstream.peakInFlight <= max, `${upstream.peakInFlight} at once`)
  await other.waitForOutput(/has ended; its slots are free/)
})

test('cut off from the database a gateway goes on with what it holds, refuses after nine tenths of the lease, and comes back', async () => {
  await using upstream = await slowUpstream(20)
  const { pathname, port } = new URL(await postgres.database('limit_cut'))
  await using proxy = await startTcpProxy(() => Number(port))
  const url = `postgres://tokenweir:very-secret@127.0.0.1:${proxy.port}${pathname}`
  await using one = await startGateway(upstream, { url, args: ['--share-lease-s', '6'] })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...answerAfter(20)])
  const first = call(one)
  await upstream.waitForInFlight(1)
  proxy.cut()
  // It can ask for no other slot, and has the one that the first gives back.
  const next = call(one)
  await untilCalls(one, { active: 1, queued: 1 })
  gate.resolve()
  assert.deepEqual([(await first).status, (await next).status], [200, 200])
  await eventually('it is refused', async () => {
    const { status, code } = await call(one)
    return status === 503 && code === 'limit_unreachable'
  })
  assert.equal((await shared(one))['engine'], 'away')
  const control = new ControlClient(one.directory)
  await assert.rejects(control.setOptions({ max_concurrent: 9 }), /cannot be reached/)
  assert.equal(asRecord((await one.health())['rate_limiter'])['max_concurrent'], max)
  assert.ok(!JSON.stringify(await one.health()).includes('very-secret'))
  proxy.mend()
  await eventually('it is served again', async () => (await call(one)).status === 200)
  assert.ok(!`${one.stdout}${one.stderr}`.includes('very-secret'))
})

for (const [how, isSilent] of [
  ['refuses connections', false],
  ['hangs', true],
] as const) {
  test(`while calls wait on two gateways and their database ${how}, each goes on with what it holds`, async () => {
    await using upstream = await slowUpstream(20)
    const { pathname, port } = new URL(await postgres.database(`limit_away_${isSilent}`))
    await using proxy = await startTcpProxy(() => Number(port))
    const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
    await using one = await startGateway(upstream, { url })
    await using other = await startGateway(upstream, { url })
    const loads = [one, other].map((gateway) => load(gateway, 2 * max))
    await upstream.waitFor('both are busy', () => upstream.requests.length > 60, 30_000)
    proxy.cut(isSilent)
    await eventually('it is known to be away', async () => (await shared(one))['engine'] === 'away')
    const held = await Promise.all(
      [one, other].map(async (gateway) => Number((await shared(gateway))['held_here'])),
    )
    const kept = /this gateway (?:keeps \d+ slots? until \d+ s have passed|holds no slot)/
    assert.match(JSON.stringify(await one.health()), kept)
    assert.ok(held[0]! + held[1]! >= max / 2, `${held.join(' and ')} slots are kept`)
    const soFar = upstream.requests.length
    await upstream.waitFor('calls go on', () => upstream.requests.length > soFar + 100, 30_000)
    const seen = await Promise.all(loads.map((end) => end()))
    assert.deepEqual(
      seen,
      held.map((slots) => new Set(slots === 0 ? [200, 'limit_unreachable'] : [200])),
    )
    assert.ok(upstream.peakInFlight <= max, `${upstream.peakInFlight} at once`)
  })
}

test('a database that takes no writes is not flooded with connections, and serves again', async () => {
  await using upstream = await slowUpstream(20)
  const address = await postgres.database('limit_read_only')
  const { pathname, port } = new URL(address)
  let connections = 0
  await using proxy = await startTcpProxy(() => {
    connections++
    return Number(port)
  })
  const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
  await using one = await startGateway(upstream, { url })
  assert.equal((await call(one)).status, 200)
  const admin = await connect(address, { applicationName: 'test', statementTimeoutMs: 5000 })
  await admin.query('ALTER DATABASE limit_read_only SET default_transaction_read_only = on')
  proxy.cut()
  proxy.mend()
  await eventually('it is known to be away', async () => (await shared(one))['engine'] === 'away')
  assert.match(JSON.stringify((await one.health())['warnings']), /in a read-only transaction\. No answer for/)
  const before = connections
  await sleep(5000)
  // The messages, the notifications and the rows each try again within two seconds.
  assert.ok(connections - before <= 30, `${connections - before} connections in five seconds`)
  await admin.query('ALTER DATABASE limit_read_only RESET default_transaction_read_only')
  admin.close()
  await eventually('it serves again', async () => (await shared(one))['engine'] === 'ok')
  assert.equal((await call(one)).status, 200)
  await sleep(2000)
  assert.ok(!one.stdout.includes('pooler'))
})

test('a gateway that holds no slot while the database is away refuses after 5 s, and says that it holds none', async () => {
  await using upstream = await slowUpstream(20)
  const { pathname, port } = new URL(await postgres.database('limit_none'))
  await using proxy = await startTcpProxy(() => Number(port))
  const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
  await using one = await startGateway(upstream, { url })
  assert.equal((await call(one)).status, 200)
  await eventually('its slot has gone back', async () => (await shared(one))['held'] === 0)
  proxy.cut()
  const sinceMs = performance.now()
  assert.deepEqual(await call(one), { status: 503, code: 'limit_unreachable' })
  const tookMs = performance.now() - sinceMs
  assert.ok(tookMs > 4500 && tookMs < 9000, `${tookMs} ms`)
  const health = await one.health()
  assert.equal(asRecord(health['shared'])['held_here'], 0)
  assert.match(JSON.stringify(health['warnings']), /holds no slot/)
  proxy.mend()
  await eventually('it serves again', async () => (await call(one)).status === 200)
})

test('with --share-lost cut, calls end once their slots are not this gateway’s any more', async () => {
  await using upstream = await slowUpstream(120_000)
  const { pathname, port } = new URL(await postgres.database('limit_lost'))
  await using proxy = await startTcpProxy(() => Number(port))
  const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
  await using one = await startGateway(upstream, {
    url,
    args: ['--share-lease-s', '3', '--share-lost', 'cut'],
  })
  const lost = call(one)
  await upstream.waitForInFlight(1)
  // Nothing says that it is cut off: what is sent just gets no answer.
  proxy.cut(true)
  assert.deepEqual(await lost, { status: 503, code: 'limit_unreachable' })
  await upstream.waitForInFlight(0)
})

test('a gateway that pauses for less than its lease keeps its slots; for longer, it gives them up and asks anew', async () => {
  await using upstream = await slowUpstream(120_000)
  const url = await postgres.database('limit_paused')
  const args = ['--share-lease-s', '4']
  await using one = await startGateway(upstream, { url, args })
  await using other = await startGateway(upstream, { url, args })
  for (let calls = 0; calls < max; calls++) void call(one).catch(() => null)
  await upstream.waitForInFlight(max)
  void call(other).catch(() => null)
  process.kill(one.pid, 'SIGSTOP')
  // A second of its lease may have been over already.
  await sleep(1000)
  assert.equal(upstream.inFlight, max)
  process.kill(one.pid, 'SIGCONT')
  await eventually('it holds them still', async () => (await shared(one))['held'] === max)
  assert.equal(upstream.inFlight, max)
  process.kill(one.pid, 'SIGSTOP')
  await upstream.waitFor('the pool gives it up', () => upstream.inFlight === max + 1, 30_000)
  process.kill(one.pid, 'SIGCONT')
  await eventually(
    'it has joined again, with what it uses',
    async () => (await shared(one))['held'] === max + 1,
  )
})

test('a database that crashes has lost who holds what: nobody gets a slot before all are back, and never are there too many', async () => {
  await using upstream = await slowUpstream(300)
  const url = await postgres.database('limit_crash')
  await using one = await startGateway(upstream, { url })
  await using other = await startGateway(upstream, { url })
  const loads = [one, other].map((gateway) => load(gateway, 4))
  await upstream.waitForInFlight(max)
  await postgres.restart()
  const soFar = upstream.requests.length
  await upstream.waitFor('calls go on', () => upstream.requests.length > soFar + 12, 60_000)
  // A database that is away for more than 5 s has calls refused.
  for (const end of loads)
    assert.deepEqual((await end()).difference(new Set(['limit_unreachable'])), new Set([200]))
  assert.equal(upstream.peakInFlight, max)
})

test('a schema that is dropped while calls run is made again with its limits, and never are there too many calls', async () => {
  await using upstream = await slowUpstream(300)
  const url = await postgres.database('limit_dropped')
  const budget = ['--token-limit', '70000', '--budget-action', 'reject']
  await using one = await startGateway(upstream, { url, args: budget })
  await using other = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--share', '--slot-cooldown-ms', '0'],
    env: { TOKENWEIR_SHARE: url },
  })
  assert.equal(asRecord((await other.health())['rate_limiter'])['max_concurrent'], max, 'from its start on')
  await new ControlClient(one.directory).setOptions({ max_concurrent: 5 })
  const limits = async (gateway: GatewayProcess): Promise<readonly unknown[]> => {
    const { rate_limiter: slots, token_budget: tokens } = await gateway.health()
    return [asRecord(slots)['max_concurrent'], asRecord(tokens)['daily_limit']]
  }
  for (const gateway of [one, other])
    await eventually('it has the limit', async () => (await limits(gateway))[0] === 5)
  const loads = [one, other].map((gateway) => load(gateway, 6))
  await upstream.waitForInFlight(5)
  const connection = await connect(url, { applicationName: 'test', statementTimeoutMs: 10_000 })
  await connection.query('DROP SCHEMA tokenweir CASCADE')
  connection.close()
  const soFar = upstream.requests.length
  await upstream.waitFor('calls go on', () => upstream.requests.length > soFar + 30, 60_000)
  for (const gateway of [one, other]) {
    await eventually('both are on the new list', async () => (await shared(gateway))['gateways'] === 2)
    assert.deepEqual(await limits(gateway), [5, 70_000])
  }
  for (const end of loads) assert.deepEqual(await end(), new Set([200]))
  assert.equal(upstream.peakInFlight, 5)
  // A start that asks for what it asked for before has not changed its mind.
  await one.stop()
  await using again = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--share', '--max-concurrent', String(max), ...budget],
    env: { TOKENWEIR_SHARE: url },
    directory: one.directory,
  })
  assert.deepEqual(await limits(again), [5, 70_000])
})

test('a gateway whose database is away when it starts answers 503, and serves as soon as it has joined', async () => {
  await using upstream = await slowUpstream(10)
  const { pathname, port } = new URL(await postgres.database('limit_late'))
  await using proxy = await startTcpProxy(() => Number(port))
  proxy.cut()
  const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
  const starting = startGateway(upstream, { url })
  await proxy.refused
  proxy.mend()
  await using one = await starting
  assert.equal((await call(one)).status, 200)
  assert.match(one.stdout, /no call is served until it answers/)
})

test('a restart without a pause has two holders for a while, and both together keep to the limit', async () => {
  await using upstream = await slowUpstream(400)
  const url = await postgres.database('limit_restart')
  const args = [
    '--share',
    '--max-concurrent',
    String(max),
    '--slot-cooldown-ms',
    '0',
    '--upstream',
    upstream.baseUrl,
  ]
  await using directory = await makeTempDir()
  await using up = await startUpProcess({ directory: directory.path, args, env: { TOKENWEIR_SHARE: url } })
  const end = load({ baseUrl: `${up.gateway}/v1` }, 8)
  await upstream.waitForInFlight(max)
  const answer = await fetch(`${up.dashboard}/api/proxy/restart`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(answer.status, 200, await answer.text())
  const soFar = upstream.requests.length
  await upstream.waitFor('the new one serves', () => upstream.requests.length > soFar + 12, 60_000)
  assert.deepEqual(await end(), new Set([200]))
  assert.equal(upstream.peakInFlight, max)
})

test('whoever calls while a gateway joins is answered: 503 until it has joined', async () => {
  await using upstream = await slowUpstream(10)
  const url = await postgres.database('limit_joins')
  const port = await freePort()
  const calls = Array.from({ length: 40 }, () => whenOpen(() => exchange(port, 'GET', '/v1/models')))
  await using gateway = await startGateway(upstream, { url, args: ['--port', String(port)] })
  assert.equal(gateway.port, port)
  for (const answer of await Promise.all(calls)) {
    const code = answer.header('x-tokenweir-error')
    assert.ok(answer.status === 200 || code === 'limit_unreachable', `${answer.status} ${code}`)
  }
})
