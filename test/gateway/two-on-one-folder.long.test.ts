import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canMakeNamespaces, newPidNamespace } from '../support/command-process.ts'
import { exchange } from '../support/exchange.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { untilNoted } from '../support/open-calls.ts'
import { readCalls, recordedCalls } from '../support/recorded-calls.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

async function call({ port }: GatewayProcess): Promise<number> {
  return (await exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m","messages":[]}' }))
    .status
}

test('a gateway in another PID namespace takes nobody for dead, but who is', async (context) => {
  if (!canMakeNamespaces()) return context.skip('no namespaces can be made here')
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const options = { upstream: upstream.baseUrl, directory: dir.path }
  const gate = Promise.withResolvers<void>()
  const outcomes = (): readonly string[] =>
    readCalls(`${dir.path}/telemetry.db`).map(({ outcome }) => outcome)

  await using here = await startGatewayProcess(options)
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, { id: 'late' })])
  const late = call(here)
  await upstream.waitForRequest(0)
  await using there = await startGatewayProcess({ ...options, launcher: newPidNamespace })
  assert.equal(await call(there), 200)
  await recordedCalls(there, 1)
  assert.deepEqual(outcomes(), ['ok'])
  await untilNoted(here.databaseFile, 1)

  upstream.replyOnce([until(new Promise(() => {}))])
  const lost = call(there).catch(() => 0)
  await upstream.waitForRequest(2)
  await untilNoted(here.databaseFile, 2)
  gate.resolve()
  assert.equal(await late, 200)
  await recordedCalls(here, 2)
  assert.deepEqual(outcomes(), ['ok', 'ok'])
  await there.kill9()
  assert.equal(await lost, 0)
  await using next = await startGatewayProcess(options)
  await recordedCalls(next, 3)
  assert.deepEqual(outcomes(), ['ok', 'ok', 'interrupted'])
})
