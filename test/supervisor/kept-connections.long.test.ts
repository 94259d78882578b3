/** A restart closes no connection that a client keeps: the new gateway has them, and the old one ends with its last call. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestBytes } from '../support/exchange.ts'
import { assertWithin } from '../support/assert-within.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openRawClient } from '../support/raw-client.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeWorkplace } from './workplace.ts'

const body = '{"model":"m"}'
const call = requestBytes('POST', '/v1/chat/completions', { body })

/** Which process answers on this connection. */
async function pidOn(client: Awaited<ReturnType<typeof openRawClient>>): Promise<number> {
  await client.send(requestBytes('GET', '/health'))
  const { pid } = JSON.parse((await client.response()).body.toString()) as { readonly pid: number }
  return pid
}

test('idle connections go on in the next gateway, used or not, over several restarts; the old ones end at once', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, {}) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0', `--upstream=${upstream.baseUrl}`] })
  const { port } = await supervisor.start()
  const clients = await Promise.all(Array.from({ length: 20 }, () => openRawClient(port)))
  try {
    for (const client of clients.slice(10)) {
      await client.send(call)
      assert.equal((await client.response()).status, 200)
    }
    let pid: number | null = null
    for (let restarts = 0; restarts < 3; restarts++) {
      const { pid: before } = await supervisor.status()
      pid = (await supervisor.restart()).pid
      const left = performance.now()
      await eventually('the old one to end', () => !place.gateways().includes(before!))
      assertWithin(2000, performance.now() - left, 'the end of the old one')
    }
    for (const client of clients) assert.equal(await pidOn(client), pid)
  } finally {
    for (const client of clients) client.leave()
  }
})

test('a connection goes on in the next gateway after the call that was under way on it; a request that has begun ends where it began', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=2000']
  const supervisor = place.supervisor({ args })
  const { port, pid: before } = await supervisor.start()
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce({ steps: [until(gate.promise), ...jsonReply(200, {})] })
  await using busy = await openRawClient(port)
  await using half = await openRawClient(port)
  await busy.send(call)
  await eventually('the call', () => upstream.requests.length === 1)
  // An empty line before it is none of it.
  await half.send(Buffer.concat([Buffer.from('\r\n'), requestBytes('GET', '/health').subarray(0, 20)]))
  await sleep(50)
  const { pid } = await supervisor.restart()
  await half.send(requestBytes('GET', '/health').subarray(20))
  const { pid: answered } = JSON.parse((await half.response()).body.toString()) as { readonly pid: number }
  assert.equal(answered, before)
  await eventually('the connection to go on', async () => (await pidOn(half)) === pid)
  assert.deepEqual(new Set(place.gateways()), new Set([before, pid]))
  // Longer than idle connections are kept where they cannot be passed on.
  await sleep(2500)
  gate.resolve()
  const response = await busy.response()
  assert.deepEqual([response.status, response.header('connection')], [200, 'keep-alive'])
  await eventually('the old one to end', () => !place.gateways().includes(before!))
  assert.equal(await pidOn(busy), pid)
})

test('a restart onto another address passes no connection on, and tells clients to come anew', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, {}) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: [`--upstream=${upstream.baseUrl}`], host: null })
  const { port, pid } = await supervisor.start({ port: await freePort(), host: '127.0.0.1' })
  await using client = await openRawClient(port)
  assert.equal(await pidOn(client), pid)
  await supervisor.restart({ host: '127.0.0.2' })
  await client.send(call)
  const response = await client.response()
  assert.deepEqual([response.status, response.header('connection')], [200, 'close'])
  await eventually('the old one to end', () => !place.gateways().includes(pid!))
})

test('under load over kept connections no call fails in five restarts, and no connection is closed', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => ({ steps: [until(sleep(5)), ...jsonReply(200, { model: 'm' })] }),
  })
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=8', '--slot-cooldown-ms=0']
  const supervisor = place.supervisor({ args })
  const { port } = await supervisor.start()
  const clients = 16
  using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: clients }), {
    [Symbol.dispose]: () => agent.destroy(),
  })
  const sockets = new Set<Socket>()
  const failures: unknown[] = []
  const over = new AbortController()
  let calls = 0
  const goOn = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        const path = '/v1/chat/completions'
        const asked = request({ host: '127.0.0.1', port, agent, method: 'POST', path }).end(body)
        asked.once('socket', (socket) => sockets.add(socket))
        const [response] = await once(asked, 'response')
        await text(response)
        if (response.statusCode !== 200) failures.push(response.statusCode)
      } catch (error) {
        failures.push(error)
      }
      calls++
      // So that the connection is idle now and then.
      await sleep(calls % 7)
    }
  }
  const running = Array.from({ length: clients }, goOn)
  for (let restarts = 0; restarts < 5; restarts++) {
    const { pid } = await supervisor.status()
    const goal = calls + 100
    await eventually('some calls', () => calls > goal)
    await supervisor.restart()
    await eventually('the old one to end', () => !place.gateways().includes(pid!))
  }
  over.abort()
  await Promise.all(running)
  assert.deepEqual(failures, [])
  assert.equal(sockets.size, clients)
  assert.ok(upstream.peakInFlight <= 8)
})
