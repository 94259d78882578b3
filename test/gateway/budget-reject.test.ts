import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange, requestBytes } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls, untilIdle } from '../support/gateway-state.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { type ReplyStep, cut, reset, stall, until, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, responseHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const chat = '/v1/chat/completions'

function start(upstream: SimulatedUpstream, directory?: string, ...args: string[]): Promise<GatewayProcess> {
  return startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--token-limit', '100', '--budget-action', 'reject', '--slot-cooldown-ms', '0', ...args],
    ...(directory === undefined ? {} : { directory }),
  })
}

function answerOf(tokens: number): ReplyStep[] {
  const usage = { prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens }
  return jsonReply(200, { model: 'm', choices: [{}], usage })
}

function call(gateway: GatewayProcess, asked: object = {}): Promise<RawResponse> {
  return exchange(gateway.port, 'POST', chat, { body: JSON.stringify({ model: 'm', ...asked }) })
}

function budgetHeaders(response: RawResponse): unknown[] {
  return ['Limit', 'Used', 'Remaining'].map((name) => response.header(`x-token-budget-${name}`))
}

/** `retryAfter`: null where there must be none. */
function assertRefused(response: RawResponse, used: number, retryAfter: RegExp | null = /^[1-9]\d*$/): void {
  assert.deepEqual([response.status, response.header('x-tokenweir-error')], [429, 'token_budget_exceeded'])
  assert.deepEqual(budgetHeaders(response), ['100', String(used), String(100 - used)])
  assert.equal(response.header('x-should-retry'), 'false')
  const told = response.header('retry-after')
  if (retryAfter === null) assert.equal(told, undefined)
  else assert.match(told ?? '', retryAfter)
  const error = asRecord(parseRecord(response.body.toString())['error'])
  assert.deepEqual(
    [error['type'], error['code'], error['param']],
    ['insufficient_quota', 'token_budget_exceeded', null],
  )
}

test('what is left is given out, then calls are refused, also after a restart; other methods pass', async () => {
  await using upstream = await startSimulatedUpstream()
  await using directory = await makeTempDir()
  await using first = await start(upstream, directory.path)
  upstream.replyOnce(answerOf(60), answerOf(70))
  const passed = await call(first)
  assert.deepEqual([passed.status, ...budgetHeaders(passed)], [200, undefined, undefined, undefined])
  await recordedCalls(first, 1)
  // It names no bound, so it goes in flight, and beyond the limit.
  assert.equal((await call(first)).status, 200)
  await recordedCalls(first, 2)
  const refused = await call(first)
  assertRefused(refused, 130)
  const retryAfterS = Number(refused.header('retry-after'))
  assert.ok(retryAfterS > 86_000 && retryAfterS <= 86_460, String(retryAfterS))
  const row = await rowOf(first, refused)
  assert.deepEqual(
    [row.status, row.outcome, row.failure_code, row.failed, row.attempts],
    [429, 'refused', 'token_budget_exceeded', true, 0],
  )
  assertRefused(await exchange(first.port, 'POST', '/v1/embeddings', { body: '{"model":"m"}' }), 130)
  assertRefused(await exchange(first.port, 'POST', '/v1/images/generations', { body: '{}' }), 130)
  assert.equal((await exchange(first.port, 'GET', '/v1/models')).status, 200)
  const budget = asRecord((await first.health())['token_budget'])
  const figures = { daily_limit: 100, total_used: 130, remaining: -30, percentage_used: 130 }
  assert.deepEqual(budget, { ...figures, estimated: 0, known: true })
  assert.equal(upstream.requests.length, 3)
  assert.equal((await first.stop()).code, 0)

  // The very first call after the start waits until it is known what was used.
  await using second = await start(upstream, directory.path)
  assertRefused(await call(second), 130)
  assert.equal(upstream.requests.length, 3)
})

test('bounds that are written oddly count as upstreams read them; what is more than the limit never passes', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await start(upstream)
  for (const asked of ['100000000000000000000', '1e400', '"2000"', '101', '34, "n": 3']) {
    const refused = await exchange(gateway.port, 'POST', chat, {
      body: `{"model":"m","max_tokens":${asked}}`,
    })
    assert.equal(refused.status, 429, asked)
    assert.equal(refused.header('retry-after'), undefined, asked)
    assert.equal(refused.header('x-should-retry'), 'false')
    assert.deepEqual(budgetHeaders(refused), ['100', '0', '100'])
    assert.match(refused.body.toString(), /never passes/)
    if (asked === '1e400') assert.match(refused.body.toString(), /more tokens than can be counted/)
    if (asked === '101') assert.match(refused.body.toString(), /up to 101 tokens/)
  }
  assert.equal(upstream.requests.length, 0)
})

test('calls in flight reserve what they may use, and settle by what they did use', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream()
  await using gateway = await start(upstream)
  upstream.replyOnce([until(gate.promise), ...answerOf(30)])
  const inFlight = call(gateway, { max_tokens: 80 })
  await upstream.waitForRequest(0)
  const refused = await call(gateway, { max_tokens: 21 })
  assertRefused(refused, 0)
  assert.equal(refused.header('retry-after'), '60')
  assert.match(refused.body.toString(), /\b80 more\b/)
  assert.equal((await call(gateway, { max_tokens: 20 })).status, 200)
  gate.resolve()
  assert.equal((await inFlight).status, 200)
  await recordedCalls(gateway, 3)
  const used = Number(asRecord((await gateway.health())['token_budget'])['total_used'])
  assert.ok(used >= 30 && used < 60)
  assert.equal((await call(gateway, { max_tokens: 100 - used })).status, 200)
})

test('however a call ends, its reservation ends with it', async () => {
  await using upstream = await startSimulatedUpstream()
  // Calls without usage count what they are estimated to have used; two reservations do not fit, one does.
  await using gateway = await start(upstream, undefined, '--retry-429-max', '1', '--token-limit', '10000')
  const all = { max_tokens: 9000 }
  const begun = [write(responseHead(200, [['Transfer-Encoding', 'chunked']])), write(chunkFrame('a'))]
  const endings: Record<string, ReplyStep[]> = {
    'an error of the upstream': jsonReply(500, {}),
    'no answer': [cut()],
    'no HTTP': [write('nonsense\r\n\r\n'), cut()],
    'a cut answer': [...begun, cut()],
    'a reset': [...begun, reset()],
    'an answer without usage': jsonReply(200, {}),
    'a 429 that passes': jsonReply(429, {}, [['x-should-retry', 'false']]),
    'a 429 that is tried again': jsonReply(429, {}, [['retry-after-ms', '1']]),
  }
  let calls = 0
  for (const [what, reply] of Object.entries(endings)) {
    upstream.replyOnce(reply)
    if (what.endsWith('again')) upstream.replyOnce(jsonReply(503, {}))
    const answer = await call(gateway, all)
    assert.equal(answer.header('x-tokenweir-error') === 'token_budget_exceeded', false, what)
    await recordedCalls(gateway, ++calls)
  }
  // Left before the answer, in the middle of it, and while a 429 is waited out.
  for (const reply of [[stall()], [...begun, stall()], jsonReply(429, {}, [['Retry-After', '30']])]) {
    upstream.replyOnce(reply)
    await using client = await openRawClient(gateway.port)
    const seen = upstream.requests.length
    await client.send(requestBytes('POST', chat, { body: JSON.stringify(all) }))
    await upstream.waitForRequest(seen)
    if (reply[0]!.do === 'write' && reply.length > 1) await client.waitForBytes('a')
    assert.equal((await call(gateway, all)).header('x-tokenweir-error'), 'token_budget_exceeded')
    calls += 2
    client.leave()
    await recordedCalls(gateway, calls)
  }
  await untilIdle(gateway)
  assert.equal((await call(gateway, all)).status, 200)
})

test('a call that waits for its slot is looked at again when it has it', async () => {
  const gate = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream()
  await using gateway = await start(upstream, undefined, '--max-concurrent', '2')
  // An error of the upstream counts nothing.
  const holding = [until(gate.promise), ...jsonReply(500, {})]
  upstream.replyOnce(holding, holding, [until(second.promise), ...answerOf(10)])
  const holders = [call(gateway), call(gateway)]
  await upstream.waitForInFlight(2)
  const first = call(gateway, { max_tokens: 60 })
  await untilCalls(gateway, { active: 2, queued: 1 })
  const late = call(gateway, { max_tokens: 60 })
  await untilCalls(gateway, { active: 2, queued: 2 })
  gate.resolve()
  const refused = await late
  assertRefused(refused, 0)
  assert.equal(refused.header('retry-after'), '60')
  assert.ok((await rowOf(gateway, refused)).queue_ms! > 0)
  await Promise.all(holders)
  await untilCalls(gateway, { active: 1, queued: 0 })
  second.resolve()
  assert.equal((await first).status, 200)
  assert.equal(upstream.requests.length, 3)
})
