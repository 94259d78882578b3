import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { type OwnUpstream, shareGateway } from '../support/shared-gateway.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { setUpstreams, startGatewayOfUpstreams, writeUpstreams } from '../support/upstreams-file.ts'

const chat = '/v1/chat/completions'
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }],
  usage,
}

function ask(port: number, model: string, client: string, prefix = '') {
  const body = JSON.stringify({
    model,
    max_tokens: 10,
    messages: [{ role: 'user', content: 'x'.repeat(400) }],
  })
  return exchange(port, 'POST', prefix + chat, { body, headers: [['x-tokenweir-client', client]] })
}

function limitsIn(health: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return (health['minute_limits'] as unknown[]).map(asRecord)
}

const shared = await shareGateway({ args: ['--slot-cooldown-ms', '0'] })
const always = { reply: () => jsonReply(200, answer) }

/** The limits of an upstream of the shared gateway. */
function limitsOf(
  { name }: OwnUpstream,
  health: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  return limitsIn(health).filter(({ upstream }) => upstream === name)
}

test('calls beyond the requests a minute wait in line, at the pace of the limit, and none is refused', async () => {
  const { gateway } = shared
  await using upstream = await shared.upstream(always, { max_rpm: 300, max_concurrent: 100 })
  const calls = Array.from({ length: 40 }, () => ask(gateway.port, 'm', 'c', upstream.prefix))
  const health = await untilHealth(gateway, 'calls wait for the minute', (each) =>
    limitsOf(upstream, each).some(({ waiting }) => Number(waiting) > 0),
  )
  const [limit] = limitsOf(upstream, health)
  assert.deepEqual([limit!['of'], limit!['kind'], limit!['limit']], ['upstream', 'requests', 300])
  assert.equal(asRecord(health['rate_limiter'])['queued'], limit!['waiting'])
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
  const rows = await upstream.recorded(40)
  const wentMs = rows
    .map(({ started_at: at, receive_ms, queue_ms }) => Date.parse(at) + receive_ms! + queue_ms!)
    .toSorted((one, other) => one - other)
  // A twentieth at once, the rest one each 200 ms.
  assert.ok(wentMs.at(-1)! - wentMs[0]! >= 4900, String(wentMs.at(-1)! - wentMs[0]!))
  assert.ok(Math.max(...rows.map(({ queue_ms }) => queue_ms!)) >= 1000)
})

test('limits of a model and of a client hold as they are written, and others pass those that wait', async () => {
  await using upstream = await startSimulatedUpstream(always)
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '100'],
  })
  const folder = dirname(gateway.databaseFile)
  const limited = {
    name: 'named',
    urls: [upstream.baseUrl],
    models: ['slow*', 'fast'],
    limits: { 'slow*': { tpm: 150 } },
  }
  writeFileSync(join(folder, 'upstreams.json'), JSON.stringify({ version: 1, upstreams: [limited] }))
  writeFileSync(join(folder, 'clients.json'), JSON.stringify({ rare: { max_rpm: 1 } }))
  await untilHealth(gateway, 'both limits hold', (health) => limitsIn(health).length === 2)
  assert.equal((await ask(gateway.port, 'slow-1', 'c')).status, 200)
  assert.equal((await ask(gateway.port, 'fast', 'rare')).status, 200)
  const waiting = [ask(gateway.port, 'slow-2', 'c'), ask(gateway.port, 'fast', 'rare')]
  const health = await untilHealth(gateway, 'two wait', (each) =>
    limitsIn(each).every(({ waiting }) => waiting === 1),
  )
  assert.deepEqual(
    new Set(
      limitsIn(health).map((each) => [each['of'], each['model'] ?? each['client'], each['kind']].join(' ')),
    ),
    new Set(['client rare requests', 'model slow* tokens']),
  )
  assert.equal((await ask(gateway.port, 'fast', 'c')).status, 200)
  // A limit that is taken away lets those go at once that waited for it.
  writeFileSync(
    join(folder, 'upstreams.json'),
    JSON.stringify({ version: 1, upstreams: [{ ...limited, limits: {} }] }),
  )
  writeFileSync(join(folder, 'clients.json'), '{}')
  for (const { status } of await Promise.all(waiting)) assert.equal(status, 200)
})

test('a call that falls back keeps to the limits of the model whose name it has there', async () => {
  await using there = await startSimulatedUpstream(always)
  const fallback = { to: 'second', models: { here: 'there' } }
  await using gateway = await startGatewayOfUpstreams({
    upstream: there.origin,
    named: [
      { name: 'first', urls: [`http://127.0.0.1:${await freePort()}`], models: ['here'], fallback },
      { name: 'second', urls: [there.origin], models: ['there'], limits: { there: { rpm: 2 } } },
    ],
  })
  assert.equal((await ask(gateway.port, 'here', 'c')).status, 200)
  const second = ask(gateway.port, 'here', 'c')
  second.catch(() => {})
  await untilHealth(gateway, 'the second call waits', (health) => limitsIn(health)[0]!['waiting'] === 1)
  assert.equal(there.requests.length, 1)
})

test('a call that falls back from an upstream that never got it counts once for its client', async () => {
  await using there = await startSimulatedUpstream(always)
  await using gateway = await startGatewayOfUpstreams({
    upstream: there.origin,
    named: [
      { name: 'first', urls: [`http://127.0.0.1:${await freePort()}`], models: ['m'], fallback: 'default' },
    ],
  })
  writeFileSync(join(gateway.directory, 'clients.json'), JSON.stringify({ rare: { max_rpm: 40 } }))
  await untilHealth(gateway, 'the limit holds', (health) => limitsIn(health).length === 1)
  // The first call finds that nobody is there, and the second one skips that upstream.
  for (const used of [1, 2]) {
    const answered = await ask(gateway.port, 'm', 'rare')
    assert.deepEqual([answered.status, answered.header('x-tokenweir-upstream')], [200, 'default'])
    const [limit] = limitsIn(await gateway.health())
    assert.equal(limit?.['used'], used)
  }
})

test('calls that wait at an upstream keep to its limits when it is removed', async () => {
  await using upstream = await startSimulatedUpstream(always)
  const setting = { name: 'gone', urls: [upstream.origin] }
  const named = [{ ...setting, max_rpm: 2, max_concurrent: 9 }]
  await using gateway = await startGatewayOfUpstreams({ upstream: upstream.origin, named })
  const calls = Array.from({ length: 3 }, () => ask(gateway.port, 'm', 'c', '/gone'))
  const twoWait = (health: Readonly<Record<string, unknown>>): boolean =>
    limitsIn(health)[0]?.['waiting'] === 2
  await untilHealth(gateway, 'two wait', twoWait)
  writeUpstreams(gateway.directory, [])
  await untilHealth(gateway, 'it is removed', (health) => health['upstreams'] === undefined)
  assert.ok(twoWait(await gateway.health()))
  assert.equal(upstream.requests.length, 1)
  await setUpstreams(gateway, [setting])
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
})

test('what a provider tells is kept where that was asked for, and a 429 stops the calls behind it', async () => {
  await using upstream = await startSimulatedUpstream(always)
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--pace', 'learn', '--retry-429-max', '3', '--max-concurrent', '100'],
  })
  upstream.replyOnce(
    jsonReply(429, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }, [['retry-after', '1']]),
  )
  const first = ask(gateway.port, 'm', 'c')
  await upstream.waitForRequest(0)
  await untilHealth(
    gateway,
    'the stop is known',
    (health) => (health['provider_limits'] as unknown[]).length > 0,
  )
  const others = [ask(gateway.port, 'm', 'c'), ask(gateway.port, 'm', 'd')]
  assert.equal((await ask(gateway.port, 'other', 'c')).status, 200)
  for (const { status } of await Promise.all([first, ...others])) assert.equal(status, 200)
  const ofM = upstream.requests.filter(({ body }) => body.includes('"m"'))
  assert.equal(ofM.length, 4)
  for (const { headAtMs } of ofM.slice(1)) assert.ok(headAtMs - ofM[0]!.headAtMs >= 990)

  upstream.replyOnce(
    jsonReply(200, answer, [
      ['x-ratelimit-limit-requests', '60'],
      ['x-ratelimit-remaining-requests', '0'],
      ['x-ratelimit-reset-requests', '60s'],
    ]),
    jsonReply(429, { error: { message: 'Out of money', code: 'insufficient_quota' } }, [
      ['retry-after', '30'],
    ]),
  )
  assert.equal((await ask(gateway.port, 'told', 'c')).status, 200)
  const waits = ask(gateway.port, 'told', 'c')
  waits.catch(() => {})
  const health = await untilHealth(gateway, 'a call waits for what is told', (each) =>
    limitsIn(each).some(({ of, waiting }) => of === 'learned' && waiting === 1),
  )
  assert.deepEqual(
    limitsIn(health)
      .filter(({ waiting }) => waiting === 1)
      .map(({ model, limit, used }) => [model, limit, used]),
    [['told', 60, 60]],
  )
  assert.equal((await ask(gateway.port, 'unpaid', 'c')).status, 429, 'a quota that is used up passes at once')
  assert.equal((await ask(gateway.port, 'unpaid', 'c')).status, 200, 'and stops no other call')
  const ofTheDay = () =>
    jsonReply(429, { error: { message: 'Rate limit exceeded: free-models-per-day', code: 429 } }, [
      ['x-ratelimit-limit', '50'],
      ['x-ratelimit-remaining', '0'],
      ['x-ratelimit-reset', String(Date.now() + 6 * 3_600_000)],
      ['x-should-retry', 'false'],
    ])
  upstream.replyOnce(ofTheDay(), ofTheDay())
  for (let times = 0; times < 2; times++) {
    const refused = await ask(gateway.port, 'free', 'c')
    assert.deepEqual(
      [refused.status, refused.header('x-ratelimit-limit')],
      [429, '50'],
      'a day holds up no call',
    )
  }
})

test('a call that is sent once more without the wish for usage counts as two requests, and waits for the second', async () => {
  const { gateway } = shared
  const refusal = { error: { message: 'Unknown parameter: stream_options' } }
  await using upstream = await shared.upstream(always, { max_rpm: 20, max_tpm: 100_000 })
  upstream.replyOnce(jsonReply(400, refusal))
  const body = JSON.stringify({ model: 'm', stream: true, messages: [] })
  const answered = await exchange(gateway.port, 'POST', upstream.prefix + chat, { body })
  assert.equal(answered.status, 200)
  assert.deepEqual(
    upstream.requests.map((request) => request.body.includes('stream_options')),
    [true, false],
  )
  const health = await untilHealth(
    gateway,
    'the call is counted',
    (each) => limitsOf(upstream, each)[0]?.['used'] === 2,
  )
  assert.equal(limitsOf(upstream, health)[1]!['used'], 110, 'the refused attempt used no tokens')
  assert.equal(asRecord(health['rate_limiter'])['total_retries_429'], 0)
  // One each three seconds; when each is seen, a busy machine decides.
  const { duration_ms: tookMs } = await rowOf(gateway, answered)
  assert.ok(tookMs! >= 2990, String(tookMs))
})

test('calls that cannot be read, or allow what no model gives, are counted as what they use, too', async () => {
  const { gateway } = shared
  await using upstream = await shared.upstream(always, { max_tpm: 100_000 })
  let used = 0
  for (const body of [
    '{"model":"m","max_tokens":10,"messages":[]}',
    '{"model":"m","max_tokens":10,"messages":',
    '{"model":"m","max_tokens":1e300,"messages":[]}',
    '{"model":"m","max_tokens":-5,"messages":[]}',
    '{"model":"m","max_tokens":9007199254740991,"messages":[]}',
  ]) {
    const { status } = await exchange(gateway.port, 'POST', upstream.prefix + chat, { body })
    assert.equal(status, 200)
    used += 110
    const isCounted = (health: object): boolean => limitsOf(upstream, { ...health })[0]?.['used'] === used
    await untilHealth(gateway, body, isCounted, 3000)
  }
})

test('a call that waits in vain for a limit a minute is told so, and when there is room', async () => {
  await using upstream = await startSimulatedUpstream(always)
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-rpm', '1', '--queue-timeout-ms', '100'],
  })
  // Until the past is read, calls wait as well.
  await eventually('one is served', async () => (await ask(gateway.port, 'm', 'c')).status === 200)
  const late = await ask(gateway.port, 'm', 'c')
  assert.equal(late.header('x-tokenweir-error'), 'queue_timeout')
  assert.match(late.body.toString(), /waited 100 ms for a slot, or for a limit a minute/)
  assert.ok(Number(late.header('retry-after')) > 20, 'a retry before there is room is in vain, too')
})

test('a gateway that was killed is followed by one that knows what the minute has used', async () => {
  await using upstream = await startSimulatedUpstream(always)
  await using dir = await makeTempDir()
  const options = {
    upstream: upstream.baseUrl,
    directory: dir.path,
    args: ['--max-rpm', '2', '--max-tpm', '1000'],
  }
  const killed = await startGatewayProcess(options)
  assert.equal((await ask(killed.port, 'm', 'c')).status, 200)
  await recordedCalls(killed, 1)
  await killed.kill9()
  await using gateway = await startGatewayProcess(options)
  const waits = ask(gateway.port, 'm', 'c')
  waits.catch(() => {})
  await untilHealth(gateway, 'the past is known', (health) => {
    const used = limitsIn(health).map((limit) => limit['used'])
    return used[0] === 1 && used[1] === 110 && limitsIn(health)[0]!['waiting'] === 1
  })
})
