import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ControlClient } from '../../src/control/control-client.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { type ReplyStep, stall, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startTcpProxy } from './tcp-proxy.ts'
import { eventually } from '../support/eventually.ts'

let postgres: Postgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres[Symbol.asyncDispose]())

/** Each call uses as many tokens as it may; one of the model `thrifty` none; one of `stalls` is never answered. */
function startUpstream(): Promise<SimulatedUpstream> {
  return startSimulatedUpstream({ reply: (request) => ({ steps: answer(request) }) })
}

function* answer(request: SeenRequest): Generator<ReplyStep> {
  const { max_tokens: tokens, model } = request.json()
  if (model === 'stalls') yield stall()
  yield* answerOf(model === 'thrifty' ? 0 : tokens)
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
  for (const gateway of [one, other]) await eventually('it tells of all', tells(gateway))
  await using late = await startGateway({ upstream, url })
  await eventually('the third one does, too', tells(late))
})

const rejects = ['--token-limit', '1000', '--budget-action', 'reject']
/** What the others admit within so long may pass the limit. */
const heardWithinMs = 2000

/** Until a call that would use nothing, and may use so many tokens, is refused. */
function untilRefused(gateway: GatewayProcess, tokens: number): Promise<void> {
  const refused = async (): Promise<unknown> => (await call(gateway, tokens, 'thrifty')) === 429
  return eventually('it is refused', refused, heardWithinMs)
}

test('with reject, what one gateway has used is refused on the other within two seconds', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_reject')
  await using one = await startGateway({ upstream, url, args: rejects })
  await using other = await startGateway({ upstream, url })
  assert.equal(await call(one, 900), 200)
  const { total_used: used } = await budgetOf(one)
  assert.equal(used, 900, 'its own calls count at once')
  await eventually('it is heard', async () => (await budgetOf(other))['total_used'] === 900, heardWithinMs)
  assert.deepEqual([await call(other, 101), await call(one, 101), await call(other, 100)], [429, 429, 200])
  await untilRefused(one, 1)
})

test('three gateways that use up one limit pass it by what they admit within two seconds, and by no more', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_three')
  const limit = 6000
  const args = ['--token-limit', String(limit), '--budget-action', 'reject']
  await using one = await startGateway({ upstream, url, args })
  await using two = await startGateway({ upstream, url })
  await using three = await startGateway({ upstream, url })
  /** When each call was admitted, as its upstream saw it, with its tokens. */
  const admitted: { readonly atMs: number; readonly tokens: number }[] = []
  await Promise.all(
    [one, two, three].map(async (gateway, who) => {
      for (let at = 0; ; at++) {
        const tokens = 20 + ((who * 7 + at * 13) % 40)
        if ((await call(gateway, tokens)) === 429) break
        admitted.push({ atMs: performance.now(), tokens })
        await delay(25)
      }
    }),
  )
  const lastMs = Math.max(...admitted.map(({ atMs }) => atMs))
  const late = admitted.filter(({ atMs }) => lastMs - atMs <= heardWithinMs)
  const lateTokens = late.reduce((sum, { tokens }) => sum + tokens, 0)
  const given = givenOut(upstream)
  assert.ok(given > 0.9 * limit, `${given} of ${limit} tokens`)
  assert.ok(given <= limit + lateTokens, `${given} of ${limit} tokens, ${lateTokens} of them at the end`)
  for (const gateway of [one, two, three])
    await eventually('it tells of all', async () => (await budgetOf(gateway))['total_used'] === given)
})

test('what a call in flight may use is refused on the other gateway, until it has ended', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_in_flight')
  await using one = await startGateway({ upstream, url, args: rejects })
  await using other = await startGateway({ upstream, url })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...answerOf(100)])
  const long = call(one, 900)
  await upstream.waitForInFlight(1)
  await untilRefused(other, 200)
  gate.resolve()
  assert.equal(await long, 200)
  await eventually('what it did not use is free', async () => (await call(other, 900)) === 200)
})

test('what was used holds after restarts, on all machines and on a new one', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_restarts')
  await using one = await startGateway({ upstream, url, args: rejects })
  const other = await startGateway({ upstream, url })
  assert.deepEqual([await call(one, 500), await call(other, 480)], [200, 200])
  await eventually('it is heard', async () => (await budgetOf(one))['total_used'] === 980, heardWithinMs)
  await other.kill9()
  await using again = await startGateway({ upstream, url, directory: other.directory })
  await using fresh = await startGateway({ upstream, url })
  for (const gateway of [again, fresh]) {
    assert.equal(await call(gateway, 21), 429, 'from its first call on')
    assert.equal((await budgetOf(gateway))['total_used'], 980)
  }
  assert.equal(await call(again, 20), 200)
})

test('rows that come late count on the others as soon as they come', async () => {
  await using upstream = await startUpstream()
  const { pathname, port } = new URL(await postgres.database('budget_late'))
  await using proxy = await startTcpProxy(() => Number(port))
  const url = `postgres://tokenweir@127.0.0.1:${port}${pathname}`
  await using one = await startGateway({
    upstream,
    url: `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`,
    args: rejects,
  })
  await using other = await startGateway({ upstream, url })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...answerOf(900)])
  const unheard = call(one, 900)
  await upstream.waitForInFlight(1)
  proxy.cut()
  gate.resolve()
  assert.equal(await unheard, 200)
  await one.stop()
  assert.equal((await budgetOf(other))['total_used'], 0)
  proxy.mend()
  await using again = await startGateway({ upstream, url, directory: one.directory })
  await eventually('it is heard', async () => (await budgetOf(other))['total_used'] === 900)
  assert.equal(await call(other, 101), 429)
  await untilRefused(again, 101)
})

test('what a killed gateway’s calls might have used is free when it is known to be lost', async () => {
  await using upstream = await startUpstream()
  const url = await postgres.database('budget_killed')
  await using one = await startGateway({ upstream, url, args: rejects })
  const lost = await startGateway({ upstream, url })
  const pending = call(lost, 900, 'stalls').catch(() => 0)
  await upstream.waitForInFlight(1)
  await untilRefused(one, 200)
  await lost.kill9()
  assert.equal(await pending, 0)
  await eventually('it is free', async () => (await call(one, 200)) === 200)
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
    [reports, ['--budget-action', 'reject'], /only reports, and --budget-action says reject/],
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
  await new ControlClient(one.directory).setOptions({ token_limit: 70 })
  for (const gateway of [one, other])
    await eventually('it has the limit', async () => (await budgetOf(gateway))['daily_limit'] === 70)
  assert.deepEqual([await call(one, 71), await call(other, 71)], [429, 429])
  // A start that asks for what it asked for before has not changed its mind.
  await one.stop()
  await using again = await startGateway({ upstream, url, args, directory: one.directory })
  assert.equal((await budgetOf(again))['daily_limit'], 70)
})

test('without the database each gateway goes on, and counts its own calls and what it knew', async () => {
  await using upstream = await startUpstream()
  const { pathname, port } = new URL(await postgres.database('budget_away'))
  await using proxy = await startTcpProxy(() => Number(port))
  const url = `postgres://tokenweir@127.0.0.1:${proxy.port}${pathname}`
  await using gateway = await startGateway({ upstream, url, args: rejects })
  await using other = await startGateway({ upstream, url })
  assert.equal(await call(other, 500), 200)
  await eventually('it is heard', async () => (await budgetOf(gateway))['total_used'] === 500)
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...answerOf(100)])
  const first = call(gateway, 100)
  await upstream.waitForInFlight(1)
  proxy.cut()
  // One that has been idle for a second before would have gone back.
  const next = call(gateway, 300)
  await untilCalls(gateway, { active: 1, queued: 1 })
  gate.resolve()
  assert.deepEqual([await first, await next], [200, 200])
  assert.deepEqual([await call(gateway, 101), await call(gateway, 100)], [429, 200])
})
