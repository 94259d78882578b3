/** A minute in which calls were served is known while it runs, and stays known when the gateway is killed in it. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilCalls } from '../support/gateway-state.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const limitMs = 10_000

test('the running minute has its row within seconds of its calls', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '1', '--slot-cooldown-ms', '0'],
  })
  const call = (): Promise<unknown> =>
    exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, {})])
  const calls = [call(), call(), call()]
  await untilCalls(gateway, { active: 1, queued: 2 })
  gate.resolve()
  await Promise.all(calls)
  await recordedCalls(gateway, 3)
  const deadline = performance.now() + limitMs
  let seen = minutesOf(gateway.databaseFile)
  while (seen.admitted < 3 && performance.now() < deadline) {
    await sleep(20)
    seen = minutesOf(gateway.databaseFile)
  }
  await gateway.kill9()
  // A minute may have turned between the calls.
  assert.deepEqual(seen, { admitted: 3, active: 1, queued: 2 })
})

function minutesOf(file: string): { admitted: number; active: number; queued: number } {
  using database = new DatabaseSync(file, { readOnly: true })
  const row = database
    .prepare(
      'SELECT coalesce(sum(admitted), 0) AS admitted, max(active_max) AS active, max(queued_max) AS queued FROM gateway_minutes',
    )
    .get()
  return {
    admitted: Number(row?.['admitted']),
    active: Number(row?.['active']),
    queued: Number(row?.['queued']),
  }
}
