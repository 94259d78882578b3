/** Restarts while calls wait and run: both gateways together keep to every limit, no call fails, and all are told. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientUse } from '../../src/api/clients.ts'
import type { LiveCall } from '../../src/api/live-calls.ts'
import { eventually } from '../support/eventually.ts'
import { exchange, requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { freePort } from '../support/free-port.ts'
import { openRawClient } from '../support/raw-client.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { stall, until, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, sseEvent, streamHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
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

test('calls that wait at a replaced gateway get the slots that the restart adds', async () => {
  const allWait = Promise.withResolvers<void>()
  await using upstream = await startSlow(allWait.promise)
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0', '--slot-cooldown-ms=0'] })
  const { port } = await supervisor.start({ max_concurrent: 1, upstream: upstream.baseUrl })
  const calls = Array.from({ length: 6 }, () =>
    exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' }),
  )
  await eventually('calls to wait', async () => {
    return (await supervisor.status()).health?.rate_limiter.queued === 5
  })
  await supervisor.restart({ max_concurrent: 4 })
  await eventually('four to be at the upstream', () => upstream.peakInFlight === 4)
  allWait.resolve()
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
  assert.equal(upstream.peakInFlight, 4)
})

test('calls that a replaced gateway still finishes are told, and can be cancelled', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=2']
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  const ask = async (model: string) => {
    const event = sseEvent({ choices: [{ index: 0, delta: { content: model }, finish_reason: null }] })
    upstream.replyOnce([write(streamHead), write(chunkFrame(event)), stall()])
    const client = await openRawClient(port)
    await client.send(requestBytes('POST', '/v1/chat/completions', { body: `{"model":"${model}"}` }))
    await client.waitForBytes(`"${model}"`)
    return client
  }
  await using old = await ask('old')
  const restarted = await supervisor.restart()
  assert.notEqual(restarted.pid, pid)
  await using young = await ask('young')

  let calls: readonly LiveCall[] = []
  const told = async () => {
    calls = (await supervisor.live())?.calls ?? []
    return calls.map(({ model, state, chunks }) => `${model} ${state} ${chunks}`).join(', ')
  }
  await eventually(
    'both calls on the board',
    async () => (await told()) === 'old streaming 1, young streaming 1',
  )
  const [first] = calls
  assert.equal(await supervisor.cancel(first!.id), true)
  const cut = await old.response()
  assert.deepEqual([cut.status, cut.complete], [200, false])
  assert.equal((await upstream.requests[0]!.connection.closed).by, 'client')
  await eventually('the other one alone', async () => (await told()) === 'young streaming 1')
  await eventually('the old gateway to end', () => !place.gateways().includes(pid!))
  assert.equal(await supervisor.cancel(first!.id), false)
  young.leave()
  await supervisor.stop()
  const rows = readCalls(place.file('telemetry.db'))
  assert.deepEqual(fieldsOf(rows, 'model', 'failure_code'), [
    ['old', 'cancelled'],
    ['young', 'client_gone'],
  ])
})
