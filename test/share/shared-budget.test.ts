import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ControlClient } from '../../src/control/control-client.ts'
import { controlFolder } from '../../src/control/control-folder.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { type ReplyStep, stall, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { untilSeen } from './until-seen.ts'

let postgres: Postgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres[Symbol.asyncDispose]())

/** Each call uses as many tokens as it may; a call of the model `stalls` is never answered. */
function startUpstream(): Promise<SimulatedUpstream> {
  return startSimulatedUpstream({ reply: (request) => ({ steps: answer(request) }) })
}

function* answer(request: SeenRequest): Generator<ReplyStep> {
  const { max_tokens: tokens, model } = request.json()
  if (model === 'stalls') yield stall()
  yield* answerOf(tokens)
}

function answerOf(tokens: unknown): ReplyStep[] {
  const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }]
  return jsonReply(200, { object: 'chat.completion', choices, usage })
}

interface Settings {
  readonly upstream: SimulatedUpstream
  readonly url: string
  readonly args?: readonly string[]
  readonly directory?: string
}

function startGateway({ upstream, url, args = [], directory }: Settings): Promise<GatewayProcess> {
  return startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--share', '--max-concurrent', '16', ...args],
    env: { TOKENWEIR_SHARE: url },
    ...(directory === undefined ? {} : { directory }),
  })
}

async function call(gateway: GatewayProcess, tokens: number, model = 'm'): Promise<number> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: tokens, messages: [] }),
  })
  await response.text()
  return response.status
}

async function budgetOf(gateway: GatewayProcess): Promise<Readonly<Record<string, unknown>>> {
  return asRecord((await gateway.health())['token_budget'])
}

/** The tokens that the upstream has given out. */
function givenOut(upstream: SimulatedUpstream): number {
  return upstream.requests.reduce((sum, request) => sum + Number(request.json()['max_tokens']), 0)
}

test('each gateway tells what all have used, and one that starts later does, too', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_used')
  await using one = await startGateway({ upstream, url })
  await using other = await startGateway({ upstream, url })
  assert.equal(await call(one, 70), 200)
  assert.equal(await call(other, 7), 200)
  const tells = (gateway: GatewayProcess) => async (): Promise<unknown> => {
    const { total_used: used } = await budgetOf(gateway)
    return used === 77 || used
  }
  for (const gateway of [one, other]) await untilSeen('it tells of all', tells(gateway))
  await using late = await startGateway({ upstream, url })
  await untilSeen('the third one does, too', tells(late))
})

test('with reject three gateways use up one limit, and not a token more', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_reject')
  const limit = 20_000
  const args = ['--token-limit', String(limit), '--budget-action', 'reject']
  await using one = await startGateway({ upstream, url, args })
  await using two = await startGateway({ upstream, url })
  await using three = await startGateway({ upstream, url })
  const gateways = [one, two, three]
  const statuses = new Map<number, number>()
  await Promise.all(
    Array.from({ length: 24 }, async (_, who) => {
      for (let at = 0; at < 25; at++) {
        const status = await call(gateways[who % 3]!, 10 + ((who * 7 + at * 13) % 90))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  assert.deepEqual(
    [...statuses.keys()].toSorted((a, b) => a - b),
    [200, 429],
  )
  const given = givenOut(upstream)
  assert.ok(given <= limit, `${given} of ${limit} tokens`)
  // What is left is credit of somebody for a moment; small calls find all of it in the end.
  await untilSeen('nothing is left', async () => {
    for (const gateway of gateways) while ((await call(gateway, 1)) === 200);
    return givenOut(upstream) === limit || givenOut(upstream)
  })
  for (const gateway of gateways)
    await untilSeen('it tells of all', async () => (await budgetOf(gateway))['total_used'] === limit)
  assert.deepEqual([await call(one, 1), await call(two, 50)], [429, 429])
})

test('what a killed gateway may have used counts until its rows are there, and is free after that', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_killed')
  const args = ['--token-limit', '1000', '--budget-action', 'reject']
  await using one = await startGateway({ upstream, url, args })
  const lost = await startGateway({ upstream, url })
  const pending = call(lost, 600, 'stalls').catch(() => 0)
  await upstream.waitForInFlight(1)
  assert.equal(await call(one, 500), 429)
  await lost.kill9()
  assert.equal(await pending, 0)
  await untilSeen('it is known to be lost', async () => {
    const { gateways } = asRecord((await one.health())['shared'])
    return gateways === 1 || gateways
  })
  // Nobody knows yet what it has used.
  assert.equal(await call(one, 500), 429)
  await using _again = await startGateway({ upstream, url, directory: lost.directory })
  await untilSeen('its rows are there', async () => {
    const status = await call(one, 500)
    return status === 200 || status
  })
})

test('the limit and what it does are those of all: another start is refused in words, a change is one for all', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_limit')
  const args = ['--token-limit', '5000', '--budget-action', 'reject']
  await using one = await startGateway({ upstream, url, args })
  const reports = await postgres.database('budget_reports')
  await using _reports = await startGateway({ upstream, url: reports })
  const refusals = [
    [url, ['--token-limit', '6000'], /share a budget of 5000 tokens, and --token-limit says 6000/],
    [reports, ['--budget-action', 'reject'], /does report, and --budget-action says reject/],
  ] as const
  for (const [address, others, words] of refusals) {
    await using refused = startCommandProcess({
      args: [
        'gateway',
        '--share',
        '--port',
        '0',
        '--max-concurrent',
        '16',
        '--upstream',
        upstream.baseUrl,
        ...others,
      ],
      directory: one.directory,
      env: { TOKENWEIR_SHARE: address, TOKENWEIR_DB: `${one.directory}/other/telemetry.db` },
    })
    const { code } = await refused.exited
    assert.notEqual(code, 0)
    assert.match(refused.stderr, words)
  }
  await using other = await startGateway({ upstream, url })
  assert.equal((await budgetOf(other))['daily_limit'], 5000)
  await new ControlClient(controlFolder(one.directory)).setOptions({ token_limit: 70 })
  for (const gateway of [one, other])
    await untilSeen('it has the limit', async () => (await budgetOf(gateway))['daily_limit'] === 70)
  assert.deepEqual([await call(one, 71), await call(other, 71)], [429, 429])
  // A start that asks for what it asked for before has not changed its mind.
  await one.stop()
  await using again = await startGateway({ upstream, url, args, directory: one.directory })
  assert.equal((await budgetOf(again))['daily_limit'], 70)
})

test('without the database the credit that is held may be used, and not more', async () => {
  const own = await startPostgres()
  await using _own = own
  await using upstream = await startUpstream()
  const url = await own.database('budget_away')
  const args = ['--token-limit', '80000', '--budget-action', 'reject']
  await using gateway = await startGateway({ upstream, url, args })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...answerOf(100)])
  const first = call(gateway, 100)
  await upstream.waitForInFlight(1)
  await own.stop()
  // One that has been idle for a second before would have gone back.
  const next = call(gateway, 100)
  await untilCalls(gateway, { active: 1, queued: 1 })
  gate.resolve()
  assert.deepEqual([await first, await next], [200, 200])
  const statuses = new Set<number>()
  await untilSeen('its credit is used up', async () => {
    const status = await call(gateway, 1000)
    statuses.add(status)
    return status === 503 || status
  })
  assert.deepEqual([...statuses], [200, 503])
  assert.ok(givenOut(upstream) < 30_000, `${givenOut(upstream)} tokens`)
})
