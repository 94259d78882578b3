import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const chat = '/v1/chat/completions'
const body = JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'x' }] })
const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }],
}
const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'

test('what answers tell of limits is in /health, /metrics and `tokenweir limits`, and never a key', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  upstream.replyOnce(
    jsonReply(200, answer, [
      ['x-ratelimit-limit-requests', '500'],
      ['x-ratelimit-remaining-requests', '212'],
      ['x-ratelimit-reset-requests', '14s'],
    ]),
    jsonReply(429, { error: { message: 'Slow down' } }, [
      ['anthropic-ratelimit-input-tokens-limit', '40000'],
      ['anthropic-ratelimit-input-tokens-remaining', '0'],
      ['anthropic-ratelimit-requests-limit', '50'],
      ['anthropic-ratelimit-requests-remaining', '49'],
      ['retry-after', '300'],
    ]),
  )
  const headers: [string, string][] = [['authorization', `Bearer ${secret}`]]
  const first = await exchange(gateway.port, 'POST', chat, { body, headers })
  const { key_fingerprint: key, met_limit: none } = await rowOf(gateway, first)
  assert.equal(none, null)
  const refused = await exchange(gateway.port, 'POST', chat, {
    body: body.replace('gpt-4.1', 'claude'),
    headers,
  })
  assert.equal(refused.status, 429)
  assert.equal((await rowOf(gateway, refused)).met_limit, 'input_tokens')

  const health = await gateway.health()
  const limits = (health['provider_limits'] as unknown[]).map(asRecord)
  assert.deepEqual(
    limits.map(({ upstream, model, key, kind, limit, remaining }) => [
      upstream,
      model,
      key,
      kind,
      limit,
      remaining,
    ]),
    [
      ['default', 'gpt-4.1', key, 'requests', 500, 212],
      ['default', 'claude', key, 'input_tokens', 40_000, 0],
      ['default', 'claude', key, 'requests', 50, 49],
      ['default', 'claude', key, 'wait', null, 0],
    ],
  )
  const metrics = (await exchange(gateway.port, 'GET', '/metrics', { host: 'localhost' })).body.toString()
  assert.match(
    metrics,
    /tokenweir_provider_remaining\{upstream="default",model="gpt-4\.1",.*kind="requests".*\} 212/,
  )

  const directory = dirname(gateway.databaseFile)
  const run = (...args: string[]) =>
    startCommandProcess({ args: ['limits', '--db', gateway.databaseFile, ...args], directory })
  await using table = run()
  assert.equal((await table.exited).code, 0)
  assert.match(table.stdout, /gpt-4\.1 .*requests\/min +212 +500 +1?\d\.?\d* s/)
  await using json = run('--json')
  assert.equal((await json.exited).code, 0)
  const printed = asRecord(JSON.parse(json.stdout))
  assert.equal((printed['provider_limits'] as unknown[]).length, 4)
  for (const text of [JSON.stringify(health), metrics, table.stdout, json.stdout])
    assert.ok(!text.includes(secret))
})
