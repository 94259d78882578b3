/** Clients in turn, and limits of their own: with the real gateway, its commands, and OpenAI's SDK. */
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import OpenAI, { RateLimitError } from 'openai'
import type { ClientUse } from '../../src/api/clients.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { exchange } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilHealth, untilIdle, untilWarned } from '../support/gateway-state.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
const answer = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{}], usage }

/** An upstream whose answers wait until each is let go. */
async function startHeld(): Promise<SimulatedUpstream & { readonly go: (count?: number) => void }> {
  const waiting: PromiseWithResolvers<void>[] = []
  let open = 0
  const upstream = await startSimulatedUpstream({
    reply: () => {
      const gate = Promise.withResolvers<void>()
      if (open > 0) {
        open -= 1
        gate.resolve()
      } else waiting.push(gate)
      return { steps: [until(gate.promise), ...jsonReply(200, answer)] }
    },
  })
  const go = (count = 1): void => {
    const now = waiting.splice(0, count)
    for (const gate of now) gate.resolve()
    open += count - now.length
  }
  return Object.assign(upstream, { go })
}

function call(gateway: GatewayProcess, client: string, model = client): Promise<RawResponse> {
  const body = JSON.stringify({ model, messages: [] })
  const headers: [string, string][] = [
    ['x-tokenweir-client', client],
    ['Content-Type', 'application/json'],
  ]
  return exchange(gateway.port, 'POST', '/v1/chat/completions', { body, headers })
}

async function useOf(gateway: GatewayProcess, client: string): Promise<ClientUse | undefined> {
  const { clients } = (await gateway.health()) as { readonly clients: readonly ClientUse[] }
  return clients.find((use) => use.client === client)
}

function untilUse(gateway: GatewayProcess, client: string, wanted: Partial<ClientUse>): Promise<unknown> {
  return untilHealth(gateway, `${client} has ${JSON.stringify(wanted)}`, (health) => {
    const clients = health['clients'] as readonly ClientUse[]
    const found = clients.find((use) => use.client === client)
    return (
      found !== undefined &&
      Object.entries(wanted).every(([name, value]) => found[name as keyof ClientUse] === value)
    )
  })
}

async function clients(gateway: GatewayProcess, ...args: string[]): Promise<string> {
  await using command = startCommandProcess({
    args: ['clients', ...args, '--db', gateway.databaseFile],
    directory: gateway.directory,
  })
  const { code } = await command.exited
  assert.equal(code, 0, command.stderr)
  return command.stdout
}

test('with fair, one agent’s 200 waiting calls do not hold up another’s one', async () => {
  await using upstream = await startHeld()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1', '--slot-cooldown-ms', '0', '--queue-order', 'fair'],
  })
  const many = Array.from({ length: 201 }, () => call(gateway, 'many'))
  await untilCalls(gateway, { active: 1, queued: 200 })
  const one = call(gateway, 'one')
  await untilCalls(gateway, { active: 1, queued: 201 })
  assert.deepEqual(await useOf(gateway, 'many'), {
    client: 'many',
    active: 1,
    waiting: 200,
    max_concurrent: null,
    token_limit: null,
    used_tokens: null,
  })
  assert.equal((await useOf(gateway, 'one'))?.waiting, 1)
  assert.equal(asRecord((await gateway.health())['rate_limiter'])['queue_order'], 'fair')
  // Many's longest waiting call has its turn before that of one, which came later.
  upstream.go(3)
  assert.equal((await one).status, 200)
  const order = upstream.requests.map((request) => request.json()['model'])
  assert.deepEqual(order.slice(0, 3), ['many', 'many', 'one'])
  upstream.go(199)
  for (const { status } of await Promise.all(many)) assert.equal(status, 200)
  assert.equal(upstream.peakInFlight, 1)
})

test('limits set by hand, by command, and taken away are in force for calls that wait', async () => {
  await using upstream = await startHeld()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '4', '--slot-cooldown-ms', '0'],
  })
  const file = `${gateway.directory}/clients.json`
  assert.match(await clients(gateway, 'set', 'agent', '--max-concurrent', '1'), /at most 1 call at once/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await untilUse(gateway, 'agent', { max_concurrent: 1 })
  const agents = Array.from({ length: 8 }, () => call(gateway, 'agent'))
  await untilUse(gateway, 'agent', { active: 1, waiting: 7, max_concurrent: 1 })
  // Behind seven that wait, and served at once.
  const others = [call(gateway, 'other'), call(gateway, 'other')]
  await untilUse(gateway, 'other', { active: 2, waiting: 0 })
  writeFileSync(file, '{"agent": {"max_concurrent": 2, "_note": "by hand"}}')
  await untilUse(gateway, 'agent', { active: 2, waiting: 6, max_concurrent: 2 })
  // A broken file is said, and the last good limits hold.
  writeFileSync(file, '{"agent": {"max_concurrent": 0}}')
  const problem = 'line 1, column \\d+: agent.max_concurrent must be a whole number from 1'
  await untilWarned(gateway, new RegExp(`^broken_clients_file: .*${problem}`))
  assert.equal((await gateway.health())['status'], 'degraded')
  assert.equal((await useOf(gateway, 'agent'))?.max_concurrent, 2)
  await using refused = startCommandProcess({
    args: ['clients', 'set', 'agent', '--max-concurrent', '3', '--db', gateway.databaseFile],
    directory: gateway.directory,
  })
  assert.equal((await refused.exited).code, 1)
  assert.match(refused.stderr, /Fix the file first/)
  writeFileSync(file, '{"agent": {"max_concurrent": 2}}')
  await untilHealth(gateway, 'the file is whole', ({ status }) => status === 'ok')
  assert.match(await clients(gateway), /agent +0 +0 +2 +2 +6 /)
  // No slot is left of the four: two of each.
  assert.match(await clients(gateway, 'set', 'agent', '--max-concurrent', 'none'), /no limit of its own/)
  upstream.go(10)
  for (const { status } of await Promise.all([...agents, ...others])) assert.equal(status, 200)
  assert.ok(upstream.peakInFlight <= 4)
  await untilIdle(gateway)
})

test('over its own tokens a client is refused as all are over theirs, and nobody else; also after a restart', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => ({ steps: jsonReply(200, answer) }) })
  await using directory = await makeTempDir()
  const start = (): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream: upstream.baseUrl,
      args: ['--budget-action', 'reject', '--slot-cooldown-ms', '0'],
      directory: directory.path,
    })
  await using first = await start()
  for (let i = 0; i < 3; i++) assert.equal((await call(first, 'agent')).status, 200)
  await recordedCalls(first, 3)
  // What it used before there was a limit counts.
  await clients(first, 'set', 'agent', '--token-limit', '70')
  await untilUse(first, 'agent', { used_tokens: 60, token_limit: 70 })
  assert.equal((await call(first, 'agent')).status, 200)
  await recordedCalls(first, 4)
  const before = upstream.requests.length
  const client = (name: string): OpenAI =>
    new OpenAI({ baseURL: first.baseUrl, apiKey: 'k', defaultHeaders: { 'x-tokenweir-client': name } })
  const ask = { model: 'm', messages: [] }
  await assert.rejects(client('agent').chat.completions.create(ask), (error) => {
    assert.ok(error instanceof RateLimitError)
    assert.deepEqual(
      [error.code, error.type, error.status],
      ['client_budget_exceeded', 'insufficient_quota', 429],
    )
    assert.equal(error.headers.get('x-token-budget-remaining'), '-10')
    assert.ok(Number(error.headers.get('retry-after')) > 86_000)
    assert.match(error.message, /Of the 70 tokens of any 24 hours 80 are used .*agent in clients.json/)
    return true
  })
  await client('other').chat.completions.create(ask)
  assert.equal(upstream.requests.length, before + 1, 'the library tried no second time')
  const row = (await recordedCalls(first, 6)).find(({ failure_code: code }) => code !== null)
  assert.deepEqual([row?.outcome, row?.failure_code, row?.status], ['refused', 'client_budget_exceeded', 429])
  assert.equal((await first.stop()).code, 0)

  await using second = await start()
  // The first call waits until it is known what its client used.
  const refused = await call(second, 'agent')
  assert.deepEqual(
    [refused.status, refused.header('x-tokenweir-error'), refused.header('x-should-retry')],
    [429, 'client_budget_exceeded', 'false'],
  )
  assert.equal((await useOf(second, 'agent'))?.used_tokens, 80)
})

test('calls of a key that name no client have the name that it was given, and its limits', async () => {
  await using upstream = await startHeld()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--slot-cooldown-ms', '0'],
  })
  const headers: [string, string][] = [['Authorization', 'Bearer sk-test']]
  const ask = (): Promise<RawResponse> =>
    exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}', headers })
  upstream.go()
  await ask()
  const [unnamed] = await recordedCalls(gateway, 1)
  const fingerprint = unnamed?.key_fingerprint ?? ''
  assert.match(fingerprint, /^[0-9a-f]{8}$/)
  assert.equal(unnamed?.client, null)
  await clients(gateway, 'name', fingerprint, 'the night job')
  await clients(gateway, 'set', 'the night job', '--max-concurrent', '1')
  await untilUse(gateway, 'the night job', { max_concurrent: 1 })
  const asked = [ask(), ask()]
  await untilUse(gateway, 'the night job', { active: 1, waiting: 1 })
  upstream.go(2)
  await Promise.all(asked)
  const [, named] = await recordedCalls(gateway, 3)
  assert.deepEqual([named?.client, named?.key_fingerprint], ['the night job', fingerprint])
  const list = parseRecord(await clients(gateway, '--json'))
  const rows = list['clients'] as readonly Record<string, unknown>[]
  const job = rows.find((row) => row['client'] === 'the night job')
  assert.deepEqual(
    [job?.['calls'], job?.['tokens'], job?.['keys'], job?.['max_concurrent']],
    [3, 60, [fingerprint], 1],
  )
})
