/** The tokens that one of several upstreams may take in 24 hours. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { ClientUse } from '../../src/api/clients.ts'
import { exchange } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams, untilUpstreams, writeUpstreams } from '../support/upstreams-file.ts'

/** Each call uses as many tokens as it may. */
function* usesAll(request: SeenRequest): Generator<ReplyStep> {
  const { max_tokens: tokens } = request.json()
  const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }]
  yield* jsonReply(200, { object: 'chat.completion', choices, usage })
}

function chat(gateway: GatewayProcess, path: string, tokens: number, client = 'c'): Promise<RawResponse> {
  const body = JSON.stringify({ model: 'm', max_tokens: tokens, messages: [] })
  const headers = [
    ['Content-Type', 'application/json'],
    ['x-tokenweir-client', client],
  ] as const
  return exchange(gateway.port, 'POST', `${path}/v1/chat/completions`, { body, headers })
}

const usedAt = (gateway: GatewayProcess, tokens: number): Promise<unknown> =>
  untilUpstreams(gateway, `${tokens} tokens are used`, (upstreams) =>
    upstreams.some(({ name, used_tokens: used }) => name === 'local' && used === tokens),
  )

test('an upstream’s own tokens are counted and refused for itself, over a restart, and nobody falls back to it then', async () => {
  const answers = { reply: (request: SeenRequest) => ({ steps: usesAll(request) }) }
  await using byDefault = await startSimulatedUpstream(answers)
  await using local = await startSimulatedUpstream(answers)
  await using busy = await startSimulatedUpstream({ reply: () => jsonReply(503, {}) })
  const named = (limit: number) => [
    { name: 'local', urls: [local.origin], models: ['m'], token_limit: limit },
    { name: 'busy', urls: [busy.origin], models: ['m*'], fallback: 'local' },
  ]
  const options = { upstream: byDefault.origin, args: ['--budget-action', 'reject'] }
  await using gateway = await startGatewayOfUpstreams({ ...options, named: named(100) })
  await usedAt(gateway, 0)
  assert.equal((await chat(gateway, '/local', 60)).status, 200)
  const fallen = await chat(gateway, '/busy', 10)
  assert.deepEqual([fallen.status, fallen.header('x-tokenweir-upstream')], [200, 'local'])
  await usedAt(gateway, 70)

  const refused = await chat(gateway, '', 31)
  assert.equal(refused.status, 429)
  assert.match(refused.body.toString(), /"code":"upstream_budget_exceeded"/)
  assert.match(refused.body.toString(), /70 are used; .*token_limit of local in upstreams\.json/)
  assert.equal(refused.header('x-token-budget-remaining'), '30')
  assert.equal((await rowOf(gateway, refused)).failure_code, 'upstream_budget_exceeded')
  assert.equal((await chat(gateway, '/busy', 31)).status, 503)
  assert.equal((await chat(gateway, '/local', 30)).status, 200)
  await usedAt(gateway, 100)

  // A higher limit is in force at once.
  writeUpstreams(gateway.directory, named(110))
  await untilUpstreams(gateway, 'the limit is another', (all) => all.some((each) => each.token_limit === 110))
  assert.equal((await chat(gateway, '/local', 10)).status, 200)
  assert.equal((await chat(gateway, '/local', 1)).status, 429)
  await gateway.stop()

  await using again = await startGatewayProcess({ ...options, directory: gateway.directory })
  assert.equal((await chat(again, '/local', 1)).status, 429)
  await usedAt(again, 110)
  assert.equal(byDefault.requests.length, 0)
  assert.equal(local.requests.length, 4)
})

test('a call that its upstream’s tokens do not allow in the end holds none of its client’s', async () => {
  await using byDefault = await startSimulatedUpstream({ reply: (request) => ({ steps: usesAll(request) }) })
  const others = Promise.withResolvers<void>()
  function* whenOthersWait(request: SeenRequest): Generator<ReplyStep> {
    yield until(others.promise)
    yield* usesAll(request)
  }
  await using local = await startSimulatedUpstream({
    reply: (request) => ({ steps: whenOthersWait(request) }),
  })
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [{ name: 'local', urls: [local.origin], token_limit: 100, max_concurrent: 1 }],
    args: ['--budget-action', 'reject'],
  })
  writeFileSync(`${gateway.directory}/clients.json`, JSON.stringify({ agent: { token_limit: 200 } }))
  await untilHealth(gateway, 'both limits are known', ({ clients }) =>
    (clients as readonly ClientUse[]).some(({ used_tokens: used }) => used === 0),
  )
  await usedAt(gateway, 0)

  const first = chat(gateway, '/local', 10, 'agent')
  await local.waitFor('the first call', () => local.requests.length === 1)
  const fifty = chat(gateway, '/local', 50, 'agent')
  const fortyFive = chat(gateway, '/local', 45, 'agent')
  await untilUpstreams(gateway, 'two calls wait', (all) =>
    all.some(({ name, rate_limiter: { queued } }) => name === 'local' && queued === 2),
  )
  others.resolve()
  const answers = await Promise.all([first, fifty, fortyFive])
  assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['200', '200', '429'])
  for (const answer of answers) await rowOf(gateway, answer)
  const left = (await fifty).status === 200 ? 200 - 60 : 200 - 55
  assert.equal((await chat(gateway, '', left, 'agent')).status, 200)
})

test('nobody falls back to an upstream before it is known what it has left', async () => {
  const answers = { reply: (request: SeenRequest) => ({ steps: usesAll(request) }) }
  await using byDefault = await startSimulatedUpstream(answers)
  await using local = await startSimulatedUpstream(answers)
  await using busy = await startSimulatedUpstream({ reply: () => jsonReply(503, {}) })
  const named = (limit?: number) => [
    { name: 'local', urls: [local.origin], token_limit: limit },
    { name: 'busy', urls: [busy.origin], fallback: 'local' },
  ]
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: named(),
    args: ['--budget-action', 'reject'],
  })
  await rowOf(gateway, await chat(gateway, '/local', 90))
  // Nothing can be read while the writer waits.
  using lock = new DatabaseSync(gateway.databaseFile, { timeout: 5000 })
  lock.exec('BEGIN IMMEDIATE')
  assert.equal((await chat(gateway, '', 1)).status, 200)
  writeUpstreams(gateway.directory, named(100))
  await untilUpstreams(gateway, 'the limit holds', (all) =>
    all.some(({ token_limit: limit }) => limit === 100),
  )
  const fallen = chat(gateway, '/busy', 20)
  await busy.waitForRequest(0)
  await untilUpstreams(gateway, 'it is not known', (all) =>
    all.some(({ used_tokens: used }) => used === null),
  )
  lock.exec('ROLLBACK')
  const answer = await fallen
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [429, 'upstream_budget_exceeded'])
  assert.equal(local.requests.length, 1)
})

test('a call that waits at an upstream keeps to its tokens when it is removed', async () => {
  const ends = Promise.withResolvers<void>()
  function* usesMore(): Generator<ReplyStep> {
    yield until(ends.promise)
    const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 }
    yield* jsonReply(200, { object: 'chat.completion', choices: [{}], usage })
  }
  await using local = await startSimulatedUpstream({ reply: () => ({ steps: usesMore() }) })
  await using gateway = await startGatewayOfUpstreams({
    upstream: local.origin,
    named: [{ name: 'local', urls: [local.origin], token_limit: 100, max_concurrent: 1 }],
    args: ['--budget-action', 'reject'],
  })
  const first = chat(gateway, '/local', 10)
  await local.waitForInFlight(1)
  const second = chat(gateway, '/local', 10)
  await untilUpstreams(gateway, 'the second waits', (all) => all[1]?.rate_limiter['queued'] === 1)
  writeUpstreams(gateway.directory, [])
  await untilHealth(gateway, 'it is removed', (health) => health['upstreams'] === undefined)
  ends.resolve()
  assert.deepEqual([(await first).status, (await second).status], [200, 429])
  assert.equal(local.requests.length, 1)
})
