import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilHealth } from '../support/gateway-state.ts'
import { asRecord } from '../support/json-record.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

async function budget(
  gateway: GatewayProcess,
): Promise<{ readonly used: number; readonly remaining: number; readonly estimated: number }> {
  const figures = asRecord((await gateway.health())['token_budget'])
  assert.equal(figures['daily_limit'], 100)
  assert.ok(Math.abs(Number(figures['percentage_used']) - Number(figures['total_used'])) < 0.01)
  return {
    used: Number(figures['total_used']),
    remaining: Number(figures['remaining']),
    estimated: Number(figures['estimated']),
  }
}

/** A gateway that has just started counts what the database holds as soon as that has been read. */
async function waitForUsed(gateway: GatewayProcess, wanted: number): Promise<void> {
  await untilHealth(
    gateway,
    `${wanted} tokens are used`,
    (health) => asRecord(health['token_budget'])['total_used'] === wanted,
  )
  assert.equal((await budget(gateway)).used, wanted)
}

test('used tokens are the input and output of all rows, also after a stop and a kill', async () => {
  await using upstream = await startSimulatedUpstream()
  await using directory = await makeTempDir()
  const start = (): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream: upstream.origin,
      directory: directory.path,
      args: ['--token-limit', '100'],
    })
  const post = (gateway: GatewayProcess, path: string, body: unknown): Promise<unknown> =>
    exchange(gateway.port, 'POST', path, { body: JSON.stringify(body) })
  const sumOfRows = (gateway: GatewayProcess): number =>
    readCalls(gateway.databaseFile).reduce(
      (sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0),
      0,
    )

  await using first = await start()
  assert.deepEqual(await budget(first), { used: 0, remaining: 100, estimated: 0 })
  await post(first, '/v1/chat/completions', { model: 'm' })
  await recordedCalls(first, 1)
  assert.deepEqual(await budget(first), { used: 18, remaining: 82, estimated: 0 })
  await post(first, '/v1/embeddings', { model: 'm', input: 'a' })
  await post(first, '/v1/chat/completions', {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
  })
  await recordedCalls(first, 3)
  assert.deepEqual(await budget(first), { used: 47, remaining: 53, estimated: 0 })

  // A call that failed counts nothing; of one without usage it is estimated; reasoning is part of the output.
  await post(first, '/v1/chat/completions', {
    model: 'm',
    stream: true,
    stream_options: { include_usage: false },
  })
  upstream.replyOnce(jsonReply(500, { error: { message: 'no' } }))
  await post(first, '/v1/chat/completions', { model: 'm' })
  await exchange(first.port, 'GET', '/v1/models')
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 30,
    total_tokens: 50,
    prompt_tokens_details: { cached_tokens: 15 },
    completion_tokens_details: { reasoning_tokens: 25 },
  }
  upstream.replyOnce(jsonReply(200, { model: 'm', choices: [], usage }))
  await post(first, '/v1/chat/completions', { model: 'm' })
  const rows = await recordedCalls(first, 7)
  const { chunks, request_bytes: bytes } = rows.find(
    ({ stream, input_tokens: tokens }) => stream && tokens === null,
  )!
  const estimated = chunks! + Math.ceil(bytes / 4)
  const used = 97 + estimated
  assert.deepEqual(await budget(first), { used, remaining: 100 - used, estimated })
  assert.equal(sumOfRows(first), 97)
  assert.equal((await first.stop()).code, 0)

  await using second = await start()
  await waitForUsed(second, used)
  await post(second, '/v1/chat/completions', { model: 'm', max_tokens: 1000 })
  await recordedCalls(second, 8)
  // Beyond the limit it is only reported: nothing is refused.
  assert.deepEqual(await budget(second), { used: used + 18, remaining: 82 - used, estimated })
  await second.kill9()

  await using third = await start()
  await waitForUsed(third, used + 18)
  assert.equal(sumOfRows(third), 115)
  await post(third, '/v1/chat/completions', { model: 'm' })
  await recordedCalls(third, 9)
  assert.equal((await budget(third)).used, used + 36)
})
