/** A restart while calls of a limited client wait: both gateways together keep to its limit, and its tokens are counted on. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientUse } from '../../src/api/clients.ts'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

test('a client’s own limit and budget hold over both gateways, and others’ calls go past its own', async () => {
  const allWait = Promise.withResolvers<void>()
  const inFlight = new Map<string, number>()
  const most = new Map<string, number>()
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
  await using upstream = await startSimulatedUpstream({
    reply: (request) => {
      const name = request.target.split('?')[1] ?? ''
      return { steps: [until(pass(name)), ...jsonReply(200, { model: 'm', usage })] }
    },
  })
  const pass = async (name: string): Promise<void> => {
    const now = (inFlight.get(name) ?? 0) + 1
    inFlight.set(name, now)
    most.set(name, Math.max(most.get(name) ?? 0, now))
    await allWait.promise
    await sleep(30)
    inFlight.set(name, (inFlight.get(name) ?? 0) - 1)
  }
  await using place = await makeWorkplace()
  writeFileSync(place.file('clients.json'), '{"agent": {"max_concurrent": 1, "token_limit": 100000}}')
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, '--slot-cooldown-ms=0'] })
  await supervisor.start({ max_concurrent: 4, upstream: upstream.baseUrl })
  let isOver = 0
  const call = async (client: string): Promise<number> => {
    const headers: [string, string][] = [['x-tokenweir-client', client]]
    const target = `/v1/chat/completions?${client}`
    const { status } = await exchange(port, 'POST', target, { body: '{"model":"m"}', headers })
    if (client === 'agent') isOver += 1
    return status
  }
  const useOfAgent = async (): Promise<ClientUse | undefined> =>
    (await supervisor.status()).health?.clients?.find(({ client }) => client === 'agent')
  // What was used before the start is read by then.
  await eventually('the past to be read', async () => (await useOfAgent())?.used_tokens === 0)
  const before = Array.from({ length: 30 }, () => call('agent'))
  await eventually('calls to wait', async () => ((await useOfAgent())?.waiting ?? 0) > 20)
  allWait.resolve()
  await supervisor.restart()
  const after = Array.from({ length: 10 }, () => call('agent'))
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => call('other'))), [200, 200, 200])
  assert.ok(isOver < 40, 'other calls went past those that wait')
  for (const status of await Promise.all([...before, ...after])) assert.equal(status, 200)
  assert.equal(most.get('agent'), 1)
  await eventually('all to be counted', async () => (await useOfAgent())?.used_tokens === 40 * 20)
})
