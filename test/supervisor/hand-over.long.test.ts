/** A restart loses nothing: the new gateway accepts beside the old one, which finishes what it has. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { timesCount } from '../support/assert-within.ts'
import { requestBytes } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { until, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { InFlight, startCountedUpstream } from './counted-upstream.ts'
import { eventually } from '../support/eventually.ts'
import type { SupervisedGateway } from '../../src/supervisor/supervised-gateway.ts'
import { SteadyLoad } from './steady-load.ts'
import { type Workplace, hookedCommand, makeWorkplace } from './workplace.ts'

const call = requestBytes('POST', '/v1/chat/completions', {
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
})
const first = chunkFrame(sseEvent({ choices: [{ index: 0, delta: { content: 'w0' }, finish_reason: null }] }))
const last = Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])

/** A stream that goes on until it is told to end. */
interface OpenStream extends AsyncDisposable {
  readonly client: RawClient
  end(): void
}

async function openStream(upstream: SimulatedUpstream, port: number): Promise<OpenStream> {
  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([write(streamHead), write(first), until(gate.promise), write(last)])
  const client = await openRawClient(port)
  await client.send(call)
  await client.waitForBytes('w0')
  return { client, end: () => gate.resolve(), [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
}

async function assertWhole(stream: OpenStream): Promise<void> {
  const response = await stream.client.response()
  assert.equal(response.status, 200)
  assert.ok(response.complete)
  assert.match(response.body.toString(), /w0[^]*\[DONE\]/)
}

function healthOf(status: ProcessStatus): NonNullable<ProcessStatus['health']> {
  assert.ok(status.health !== null)
  return status.health
}

async function untilOneWaits(supervisor: SupervisedGateway): Promise<void> {
  const waits = async (): Promise<boolean> => healthOf(await supervisor.status()).rate_limiter.queued === 1
  await eventually('a waiting call', waits)
}

function ended(place: Workplace, pid: number | null): Promise<void> {
  return eventually(`process ${pid} to end`, () => !place.gateways().includes(pid!))
}

test('restarts under load, also such as fail, lose no call and no record, and both together keep to the limit', async () => {
  const inFlight = new InFlight()
  await using one = await startCountedUpstream(inFlight)
  await using other = await startCountedUpstream(inFlight)
  await using place = await makeWorkplace()
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, '--slot-cooldown-ms=0'] })
  const [most, restarts, callsPerS, streams] = timesCount ? [28, 20, 500, 20] : [8, 3, 200, 5]
  await supervisor.start({ max_concurrent: most, upstream: one.baseUrl })
  const load = new SteadyLoad({ port, callsPerS, callMs: 10, streams, streamMs: 1500 })
  const changes = [{}, { max_concurrent: most - 1, upstream: other.baseUrl }, { max_concurrent: most }]
  for (let at = 0; at < restarts; at++) {
    await load.further(60)
    const { pid } = await supervisor.status()
    const restarted = await supervisor.restart(changes[at % changes.length])
    assert.ok(restarted.health_ok)
    assert.notEqual(restarted.pid, pid)
  }
  const command = hookedCommand(`if (message.asks === 'listener') process.exit(9)`)
  const failing = place.supervisor({ args: [`--port=${port}`, '--slot-cooldown-ms=0'], command })
  for (let at = 0; at < restarts / 3; at++) {
    await load.further(60)
    const { pid } = await supervisor.status()
    await assert.rejects(failing.restart(), /The running gateway is unchanged\./)
    assert.equal((await supervisor.status()).pid, pid)
  }
  await load.further(60)
  const figures = await load.stop()
  assert.deepEqual(figures.troubles, [])
  assert.equal(figures.failed + figures.cut, 0)
  assert.equal(inFlight.most, most)
  await eventually('the predecessors to end', () => place.gateways().length === 1)
  const isKnown = async (): Promise<boolean> => healthOf(await supervisor.status()).token_budget.known
  await eventually('what was used to be known', isKnown)
  const { token_budget: budget, warnings } = healthOf(await supervisor.status())
  assert.deepEqual(warnings, [])
  await supervisor.stop()
  const rows = readCalls(place.file('telemetry.db'))
  assert.equal(rows.length, figures.calls + figures.streams)
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
  assert.ok(rows.every(({ outcome }) => outcome === 'ok'))
  assert.equal(budget.total_used - budget.estimated, 2 * figures.calls)
})

test('the old gateway finishes the stream in flight and the call that waits, and the status says so', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=1', '--drain-timeout-ms=100']
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  await using stream = await openStream(upstream, port)
  await using waiting = await openRawClient(port)
  await waiting.send(call)
  await untilOneWaits(supervisor)

  const restarted = await supervisor.restart()
  assert.ok(restarted.health_ok)
  assert.notEqual(restarted.pid, pid)
  assert.equal(restarted.port, port)
  await eventually('the report', async () => (await supervisor.status()).predecessors.length === 1)
  const status = await supervisor.status()
  assert.deepEqual(status.predecessors, [{ pid, calls: 2 }])
  assert.equal(status.message, `The previous process (${pid}) is finishing 2 calls.`)
  assert.equal(status.pid, restarted.pid)

  // The new one has no slot for as long as the old one holds, or waits for, the only one.
  await using late = await openRawClient(port)
  await late.send(call)
  await untilOneWaits(supervisor)
  upstream.replyOnce(jsonReply(200, { turn: 'waiting' }), jsonReply(200, { turn: 'late' }))
  assert.equal(upstream.requests.length, 1)
  stream.end()
  await assertWhole(stream)
  assert.match((await waiting.response()).body.toString(), /waiting/)
  assert.match((await late.response()).body.toString(), /late/)
  assert.equal(upstream.peakInFlight, 1)

  // Their connections are the new one's now.
  await ended(place, pid)
  upstream.replyOnce(jsonReply(200, { choices: [{}] }), jsonReply(200, {}))
  for (const client of [stream.client, waiting]) {
    await client.send(call)
    const response = await client.response()
    assert.deepEqual([response.status, response.header('connection')], [200, 'keep-alive'])
  }
  const after = await supervisor.status()
  assert.deepEqual([after.predecessors, after.message], [[], null])
})

test('a restart onto another port leaves the old one its calls until they end', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: [`--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=100'] })
  const { port, pid } = await supervisor.start({ port: await freePort() })
  await using stream = await openStream(upstream, port)
  const moved = await supervisor.restart({ port: await freePort() })
  assert.notEqual(moved.port, port)
  assert.ok(moved.health_ok)
  await assert.rejects(openRawClient(port), { code: 'ECONNREFUSED' })
  await sleep(300)
  stream.end()
  await assertWhole(stream)
  stream.client.leave()
  await ended(place, pid)
})

test('a restart onto another address of the same port leaves the old one its calls, or goes back to it', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: [`--upstream=${upstream.baseUrl}`], host: null })
  const { port, pid } = await supervisor.start({ port: await freePort(), host: '127.0.0.1' })
  await using stream = await openStream(upstream, port)
  await assert.rejects(supervisor.restart({ host: '192.0.2.1' }), /The running gateway is unchanged/)
  const back = await supervisor.status()
  assert.deepEqual([back.pid, back.health_ok], [pid, true])

  const moved = await supervisor.restart({ host: '0.0.0.0' })
  assert.deepEqual([moved.port, moved.host, moved.health_ok], [port, '0.0.0.0', true])
  assert.notEqual(moved.pid, pid)
  stream.end()
  await assertWhole(stream)
  stream.client.leave()
  await ended(place, pid)
})

test('a restart to an address that cannot be had fails no call', async () => {
  await using upstream = await startCountedUpstream(new InFlight())
  await using place = await makeWorkplace()
  const port = await freePort()
  // Another program has the port on another address, so that nobody can have it on all.
  await using other = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(other, 'listening')
  const args = [`--upstream=${upstream.baseUrl}`, '--slot-cooldown-ms=0', '--max-concurrent=16']
  const supervisor = place.supervisor({ args, host: null })
  const { pid } = await supervisor.start({ port, host: '127.0.0.2' })
  const load = new SteadyLoad({
    port,
    host: '127.0.0.2',
    callsPerS: 100,
    callMs: 10,
    streams: 0,
    streamMs: 0,
  })
  await load.further(20)
  for (const host of ['192.0.2.1', '127.0.0.1', '0.0.0.0']) {
    await assert.rejects(supervisor.restart({ host }), /The running gateway is unchanged/, host)
    await load.further(20)
  }
  const { failed, cut, troubles } = await load.stop()
  assert.deepEqual([failed, cut], [0, 0], troubles.join())
  assert.equal((await supervisor.status()).pid, pid)

  // One beside its own is had at once.
  const moved = await supervisor.restart({ host: '127.0.0.3' })
  assert.deepEqual([moved.health_ok, moved.host], [true, '127.0.0.3'])
})

test('a gateway that was replaced ends although clients stay: idle, silent, or in the middle of a request', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
  await using place = await makeWorkplace()
  const args = ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=500']
  const supervisor = place.supervisor({ args })
  const { port } = await supervisor.start()
  for (let restarts = 0; restarts < 2; restarts++) {
    const clients = await Promise.all(Array.from({ length: 5 }, () => openRawClient(port)))
    const [used, , headless, bodiless, piecewise] = clients
    await used!.send(call)
    assert.equal((await used!.response()).status, 200)
    await headless!.send(Buffer.from('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n'))
    await bodiless!.send(call.subarray(0, -5))
    await piecewise!.send(
      Buffer.from('POST /v1/files HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'),
    )
    const isSeen = async (): Promise<boolean> => ((await supervisor.live())?.calls.length ?? 0) === 2
    await eventually('the calls that stop coming', isSeen)
    const { pid } = await supervisor.status()
    await supervisor.restart()
    await ended(place, pid)
    assert.equal(place.gateways().length, 1)
    assert.match(bodiless!.received.toString(), /503[^]*draining/)
    for (const client of clients) client.leave()
  }
})

test('a slow upload goes on in a gateway that was replaced', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({
    args: ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=100'],
  })
  const { port, pid } = await supervisor.start()
  await using client = await openRawClient(port)
  await client.send(call.subarray(0, -8))
  await eventually('the call', async () => ((await supervisor.live())?.calls.length ?? 0) === 1)
  await supervisor.restart()
  for (let at = 8; at > 0; at--) {
    await sleep(700)
    await client.send(call.subarray(call.length - at, call.length - at + 1))
  }
  assert.equal((await client.response()).status, 200)
  await ended(place, pid)
})

test('a stop that is asked for during a restart ends both', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({
    args: ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=300'],
  })
  const { port } = await supervisor.start()
  await using _stream = await openStream(upstream, port)
  const restarted = supervisor.restart()
  const stopped = supervisor.stop()
  assert.ok((await restarted).health_ok)
  assert.equal((await stopped).state, 'stopped')
  assert.deepEqual(place.gateways(), [])
})

test('a stop ends the predecessors too', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({
    args: ['--port=0', `--upstream=${upstream.baseUrl}`, '--drain-timeout-ms=300'],
  })
  const { port } = await supervisor.start()
  await using oldest = await openStream(upstream, port)
  await supervisor.restart()
  await using older = await openStream(upstream, port)
  await supervisor.restart()
  await eventually('both reports', async () => (await supervisor.status()).predecessors.length === 2)
  assert.equal(place.gateways().length, 3)
  const stopped = await supervisor.stop()
  assert.equal(stopped.state, 'stopped')
  assert.deepEqual(place.gateways(), [])
  for (const { client } of [oldest, older]) assert.equal((await client.response()).complete, false)
})

test('a stop waits for a predecessor that has said that it ends, and is a process still', async () => {
  await using place = await makeWorkplace()
  const [saidSo, mayEnd] = [place.file('said-so'), place.file('may-end')]
  // Only the first gateway asks nobody for a handover.
  const endSlowly = `
    globalThis.succeeds ||= message.asks !== undefined
    if (message.ready && !globalThis.succeeds) {
      process.once('exit', () => {
        const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs')
        writeFileSync(${JSON.stringify(saidSo)}, '')
        while (!existsSync(${JSON.stringify(mayEnd)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      })
    }`
  const supervisor = place.supervisor({
    args: ['--port=0', '--upstream=http://127.0.0.1:9/v1'],
    command: hookedCommand(endSlowly),
  })
  const first = await supervisor.start()
  await supervisor.restart()
  await eventually('the predecessor to end', () => existsSync(saidSo))
  assert.ok(place.gateways().includes(first.pid!))
  const stopped = supervisor.stop()
  await eventually('the stop', async () => (await supervisor.status()).state === 'draining')
  assert.equal(await Promise.race([stopped, sleep(300, 'it waits')]), 'it waits')
  writeFileSync(mayEnd, '')
  await stopped
  assert.deepEqual(place.gateways(), [])
})

/** The next server that listens finds its port in use: that of a process which was killed is not free at once. */
const portIsBusyOnce = `
  const { Server } = process.getBuiltinModule('node:net')
  const { listen } = Server.prototype
  Server.prototype.listen = function () {
    Server.prototype.listen = listen
    process.nextTick(() => this.emit('error', Object.assign(new Error('busy'), { code: 'EADDRINUSE' })))
    return this
  }`

for (const [when, hook] of [
  ['before it has begun', `if (message.asks === 'handover') process.kill(process.pid, 'SIGKILL')`],
  ['before it accepts calls', `if (message.asks === 'listener') process.kill(process.pid, 'SIGKILL')`],
  ['when it is ready', `if (message.ready) process.kill(process.pid, 'SIGKILL')`],
] as const) {
  test(`a successor that is killed ${when} leaves the old gateway as it was`, async () => {
    await using upstream = await startSimulatedUpstream()
    await using place = await makeWorkplace()
    const args = ['--port=0', `--upstream=${upstream.baseUrl}`]
    const supervisor = place.supervisor({ args })
    const before = await supervisor.start()
    await using stream = await openStream(upstream, before.port)
    const bad = place.supervisor({ args, command: hookedCommand(hook) })
    await assert.rejects(bad.restart(), /was ended by signal SIGKILL\. The running gateway is unchanged\./)
    const after = await supervisor.status()
    assert.deepEqual([after.pid, after.state, after.health_ok], [before.pid, 'running', true])
    stream.end()
    await assertWhole(stream)
    assert.notEqual((await supervisor.restart()).pid, before.pid)
  })

  test(`a successor whose predecessor is killed ${when} comes up alone`, async () => {
    await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, { choices: [{}] }) })
    await using place = await makeWorkplace()
    const args = [`--port=${await freePort()}`, `--upstream=${upstream.baseUrl}`, '--max-concurrent=1']
    const supervisor = place.supervisor({ args })
    const before = await supervisor.start()
    const killed = `{ process.kill(process.ppid, 'SIGKILL'); ${when === 'when it is ready' ? '' : portIsBusyOnce} }`
    const command = hookedCommand(hook.replace("process.kill(process.pid, 'SIGKILL')", killed))
    const after = await place.supervisor({ args, command }).restart()
    assert.ok(after.health_ok)
    assert.deepEqual(place.gateways(), [after.pid])
    assert.notEqual(after.pid, before.pid)
    // The slot of the one that was killed is free again.
    await using client = await openRawClient(after.port)
    await client.send(call)
    assert.equal((await client.response()).status, 200)
  })
}

test('a predecessor that is killed gives its slots back', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({
    args: ['--port=0', `--upstream=${upstream.baseUrl}`, '--max-concurrent=1'],
  })
  const { port, pid } = await supervisor.start()
  await using _stream = await openStream(upstream, port)
  await supervisor.restart()
  await using waiting = await openRawClient(port)
  await waiting.send(call)
  await untilOneWaits(supervisor)
  upstream.replyOnce(jsonReply(200, { choices: [{}] }))
  process.kill(pid!, 'SIGKILL')
  assert.equal((await waiting.response()).status, 200)
  assert.deepEqual((await supervisor.status()).predecessors, [])
})

test('when the new gateway is killed the predecessor goes on, and the next start knows of it', async () => {
  await using upstream = await startSimulatedUpstream()
  await using place = await makeWorkplace()
  const args = [`--port=${await freePort()}`, `--upstream=${upstream.baseUrl}`, '--max-concurrent=1']
  const supervisor = place.supervisor({ args })
  const { port, pid } = await supervisor.start()
  await using stream = await openStream(upstream, port)
  const second = await supervisor.restart()
  process.kill(second.pid!, 'SIGKILL')
  await eventually('its end', async () => (await supervisor.status()).state === 'stopped')
  assert.deepEqual(place.gateways(), [pid])

  const third = await supervisor.start()
  assert.ok(third.health_ok)
  await eventually('the report', async () => (await supervisor.status()).predecessors.length === 1)
  await using waiting = await openRawClient(port)
  await waiting.send(call)
  await untilOneWaits(supervisor)
  upstream.replyOnce(jsonReply(200, { choices: [{}] }))
  stream.end()
  await assertWhole(stream)
  assert.equal((await waiting.response()).status, 200)
  assert.equal(upstream.peakInFlight, 1)
  stream.client.leave()
  await ended(place, pid)
})
