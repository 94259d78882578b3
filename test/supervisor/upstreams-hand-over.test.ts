/** Restarts while calls wait at several upstreams: both gateways together keep to the slots of each, and no call fails. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'

/** Answers 20 ms after a request, and nothing before `opened`. */
function startSlow(opened: Promise<void>): Promise<SimulatedUpstream> {
  return startSimulatedUpstream({
    reply: () => ({ steps: [until(opened), until(sleep(20)), ...jsonReply(200, { model: 'm' })] }),
  })
}

test('slots of each upstream hold over both gateways, also of one that the next does not know any more', async () => {
  const allWait = Promise.withResolvers<void>()
  await using byDefault = await startSlow(allWait.promise)
  await using one = await startSlow(allWait.promise)
  await using two = await startSlow(allWait.promise)
  await using place = await makeWorkplace()
  const named = [
    { name: 'one', urls: [one.origin], max_concurrent: 2 },
    { name: 'two', urls: [two.origin], max_concurrent: 1 },
  ]
  const write = (upstreams: readonly object[]) =>
    writeFileSync(place.file('upstreams.json'), JSON.stringify({ version: 1, upstreams }))
  write(named)
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, '--slot-cooldown-ms=0'] })
  await supervisor.start({ max_concurrent: 3, upstream: byDefault.baseUrl })
  const call = async (prefix: string): Promise<number> =>
    (await exchange(port, 'POST', `${prefix}/v1/chat/completions`, { body: '{"model":"m"}' })).status
  const calls: Promise<number>[] = []
  const send = (count: number, ...prefixes: string[]): void => {
    for (const prefix of prefixes) for (let i = 0; i < count; i++) calls.push(call(prefix))
  }
  const waiting = async (): Promise<number> => (await supervisor.status()).health?.rate_limiter.queued ?? 0
  send(60, '', '/one')
  send(20, '/two')
  await eventually('calls to wait', async () => (await waiting()) === 60 + 60 + 20 - 3 - 2 - 1)
  allWait.resolve()
  await supervisor.restart()
  send(20, '', '/one')
  // The next one is not told of two: its calls are finished where they are.
  write(named.slice(0, 1))
  await supervisor.restart()
  send(10, '', '/one')
  for (const status of await Promise.all(calls)) assert.equal(status, 200)
  assert.deepEqual([byDefault.peakInFlight, one.peakInFlight, two.peakInFlight], [3, 2, 1])
  await eventually('all slots to be free again', async () => {
    const { upstreams = [] } = (await supervisor.status()).health ?? {}
    return upstreams.every(({ rate_limiter: { active, queued } }) => active + queued === 0)
  })
  assert.deepEqual(await Promise.all([call('/one'), call('')]), [200, 200])
})
