import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type Server, createServer } from 'node:net'
import { test } from 'node:test'
import { ProcessError } from '../../src/supervisor/process-error.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { makeWorkplace } from './workplace.ts'

const upstream = '--upstream=http://127.0.0.1:9/v1'
const anyPort = ['--port=0', upstream]
const impatient = { answerMs: 300, acceptStopMs: 300, afterDrainMs: 300 }

async function listenOn(server: Server, port: number): Promise<AsyncDisposable> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test('a gateway that is killed is stopped, and its starter knows how it ended', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const { pid } = await supervisor.start()
  process.kill(pid!, 'SIGKILL')
  await eventually('the end', async () => (await supervisor.status()).state === 'stopped')
  await eventually('word of the end', async () =>
    (await supervisor.status()).message!.includes(
      `process ${pid}) ended unexpectedly: it was ended by signal SIGKILL`,
    ),
  )
  const other = await place.supervisor({ args: anyPort }).status()
  assert.equal(other.state, 'stopped')
  assert.match(other.message!, new RegExp(`\\(process ${pid}\\) ended unexpectedly`))
  await assert.rejects(supervisor.stop(), { code: 'not_running' })

  // The socket is still there, and nobody listens on it.
  assert.ok(existsSync(place.file('gateway.sock')))
  const again = await supervisor.start()
  assert.notEqual(again.pid, pid)
  assert.deepEqual([again.state, again.health_ok, again.message], ['running', true, null])
})

test('a gateway that hangs is unresponsive, cannot be started again, and is killed by a stop', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort, limits: impatient })
  const { pid, port } = await supervisor.start()
  process.kill(pid!, 'SIGSTOP')
  const status = await supervisor.status()
  assert.deepEqual([status.state, status.running, status.health_ok], ['unresponsive', true, false])
  assert.deepEqual([status.pid, status.port], [pid, port])
  assert.match(status.message!, new RegExp(`\\(process ${pid}\\) does not answer`))
  await assert.rejects(supervisor.start(), { code: 'start_failed', message: /does not answer/ })

  assert.deepEqual(place.gateways(), [pid])
  const stopped = await supervisor.stop()
  assert.deepEqual([stopped.state, stopped.message], ['stopped', null])
  assert.deepEqual(place.gateways(), [])
})

test('a dashboard that has never seen a hanging gateway tells from its record which process it is', async () => {
  await using place = await makeWorkplace()
  const { pid } = await place.supervisor({ args: anyPort }).start()
  process.kill(pid!, 'SIGSTOP')
  const other = place.supervisor({ args: anyPort, limits: impatient })
  assert.equal((await other.status()).pid, pid)
  const restarted = await other.restart()
  assert.notEqual(restarted.pid, pid)
  assert.deepEqual(place.gateways(), [restarted.pid])
})

test('a hanging gateway of which nothing is certain is left alone', async () => {
  await using place = await makeWorkplace()
  const { pid } = await place.supervisor({ args: anyPort }).start()
  process.kill(pid!, 'SIGSTOP')
  await rm(place.file('gateway-process.json'))
  const other = place.supervisor({ args: anyPort, limits: impatient })
  const status = await other.status()
  assert.deepEqual([status.state, status.pid], ['unresponsive', null])
  await assert.rejects(other.stop(), { code: 'stop_failed', message: /not certain enough/ })
  await assert.rejects(other.restart(), { code: 'stop_failed' })
  assert.deepEqual(place.gateways(), [pid])
})

test('a gateway whose socket, record or whole folder was removed makes them anew, and goes on', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const { pid } = await supervisor.start()
  for (const gone of [place.file('gateway.sock'), place.file('gateway-process.json'), place.folder]) {
    await rm(gone, { recursive: true, maxRetries: 10 })
    await eventually(`${gone} to be there again`, () => existsSync(place.file('gateway-process.json')))
    await eventually('the gateway', async () => (await supervisor.status()).health_ok)
    assert.equal((await supervisor.status()).pid, pid)
  }
  assert.equal((await supervisor.restart()).state, 'running')
  assert.equal((await supervisor.stop()).state, 'stopped')
  assert.deepEqual(place.gateways(), [])
  assert.ok(!existsSync(place.file('.proxy.pid')))
})

test('a gateway whose folder is removed just before it is stopped ends in order', async () => {
  await using place = await makeWorkplace()
  for (const own of [false, true]) {
    const supervisor = place.supervisor({ args: anyPort })
    await supervisor.start()
    await rm(place.folder, { recursive: true, maxRetries: 10 })
    if (own) assert.equal(await supervisor.stopOwn(), true)
    else assert.equal((await supervisor.stop()).state, 'stopped')
    await eventually('its end', () => place.gateways().length === 0)
  }
})

test('something else on the port is foreign, and a start says so', async () => {
  await using place = await makeWorkplace()
  const port = await freePort()
  const foreign = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('220 mail\r\n'),
  )
  await using _ = await listenOn(foreign, port)
  const supervisor = place.supervisor({ args: [`--port=${port}`, upstream] })
  const status = await supervisor.status()
  assert.deepEqual([status.state, status.running, status.port], ['foreign', false, port])
  assert.equal(status.message, `Something else listens on port ${port}.`)
  const error = await supervisor.start().catch((error: unknown) => error)
  assert.ok(error instanceof ProcessError)
  assert.equal(error.code, 'port_in_use')
  assert.equal(error.message, `Port ${port} is in use by another program.`)
  await assert.rejects(supervisor.stop(), { code: 'not_running' })
  assert.ok(foreign.listening)
})

test('a web server on the port is no gateway, whatever it answers', async () => {
  await using place = await makeWorkplace()
  const port = await freePort()
  const server = createHttpServer((_req, res) => res.end('{"status":"ok","pid":1}'))
  await using _ = await listenOn(server, port)
  const supervisor = place.supervisor({ args: [`--port=${port}`, upstream] })
  assert.equal((await supervisor.status()).state, 'foreign')
  await assert.rejects(supervisor.start(), { code: 'port_in_use', message: /by another program/ })
})

test("another data folder's gateway on the port is named", async () => {
  await using place = await makeWorkplace()
  await using other = await startGatewayProcess({ upstream: 'http://127.0.0.1:9/v1' })
  const supervisor = place.supervisor({ args: [`--port=${other.port}`, upstream] })
  assert.equal((await supervisor.status()).state, 'foreign')
  await assert.rejects(supervisor.start(), {
    code: 'port_in_use',
    message: `Port ${other.port} is in use by another tokenweir gateway (process ${other.pid}, database ${other.databaseFile}).`,
  })
  assert.equal((await other.health())['pid'], other.pid)
})
