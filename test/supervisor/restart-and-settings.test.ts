import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { openControl } from '../../src/control/control-server.ts'
import { ProcessError } from '../../src/supervisor/process-error.ts'
import { SettingError } from '../../src/options/gateway-settings.ts'
import { eventually } from '../support/eventually.ts'
import { FakeGateway } from './fake-gateway.ts'
import { freePort } from '../support/free-port.ts'
import { gatewayCommand, makeWorkplace } from './workplace.ts'

const upstream = '--upstream=http://127.0.0.1:9/v1'
const anyPort = ['--port=0', upstream]

async function savedIn(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

test('a restart puts another gateway in the place of the running one', async () => {
  await using place = await makeWorkplace()
  const port = await freePort()
  const supervisor = place.supervisor({ args: [`--port=${port}`, upstream] })
  const first = await supervisor.start()
  const second = await supervisor.restart({ max_concurrent: 6 })
  assert.ok(second.health_ok)
  assert.notEqual(second.pid, first.pid)
  assert.notEqual(second.instance, first.instance)
  assert.equal(second.port, port)
  assert.equal(second.health?.rate_limiter.max_concurrent, 6)
  await eventually('the first one to end', () => !place.gateways().includes(first.pid!))
  assert.deepEqual(place.gateways(), [second.pid])
  assert.deepEqual(await savedIn(place.file('gateway.json')), { max_concurrent: 6 })
})

test('a restart that fails leaves the gateway that works as it is', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort, host: null })
  const first = await supervisor.start({ host: '127.0.0.1', slot_cooldown_ms: 3 })
  await supervisor.configure({ max_concurrent: 7 })
  const error = await supervisor.restart({ host: '192.0.2.1' }).catch((error: unknown) => error)
  assert.ok(error instanceof ProcessError)
  assert.equal(error.code, 'start_failed')
  assert.match(error.message, /ended with exit code 1\. The running gateway is unchanged\./)
  assert.match(error.log.join('\n'), /cannot listen on 192\.0\.2\.1/)

  const back = await supervisor.status()
  assert.ok(back.health_ok)
  assert.equal(back.pid, first.pid)
  assert.equal(back.port, first.port)
  assert.equal(back.host, '127.0.0.1')
  assert.equal(back.health?.rate_limiter.max_concurrent, 7)
  assert.equal(back.health?.rate_limiter.slot_cooldown_ms, 3)
  assert.deepEqual(place.gateways(), [back.pid])
  assert.deepEqual(await savedIn(place.file('gateway.json')), {
    host: '127.0.0.1',
    slot_cooldown_ms: 3,
    max_concurrent: 7,
  })
})

test('a restart moves the gateway to another port; onto one that is in use it does not even stop it', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: [upstream] })
  const first = await supervisor.start({ port: await freePort() })
  const taken = await freePort()
  await using server = createServer((socket) => socket.on('error', () => {}).resume()).listen(
    taken,
    '127.0.0.1',
  )
  await once(server, 'listening')
  await assert.rejects(supervisor.restart({ port: taken }), { code: 'port_in_use' })
  const after = await supervisor.status()
  assert.equal(after.pid, first.pid)
  assert.ok(after.health_ok)
  const port = await freePort()
  const moved = await supervisor.restart({ port })
  assert.equal(moved.port, port)
  assert.ok(moved.health_ok)
})

test('live settings change the running gateway, and the others wait for a restart', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0'] })
  const started = await supervisor.start()
  const config = await supervisor.configure({
    max_concurrent: 11,
    token_limit: 5,
    upstream: 'http://127.0.0.1:10/v1',
  })
  const health = (await supervisor.status()).health
  assert.equal(health?.rate_limiter.max_concurrent, 11)
  assert.equal(health?.token_budget.daily_limit, 5)
  assert.deepEqual(config.needs_restart, ['upstream'])
  assert.equal(config.options.find(({ name }) => name === 'max_concurrent')?.running, 11)

  const restarted = await supervisor.restart()
  assert.notEqual(restarted.pid, started.pid)
  assert.equal(restarted.upstream, 'http://127.0.0.1:10/v1')
  assert.equal(restarted.health?.rate_limiter.max_concurrent, 11)
  assert.deepEqual((await supervisor.config()).needs_restart, [])
})

test('settings are kept while no gateway runs, and a restart of what does not run is a start', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const config = await supervisor.configure({ max_concurrent: 11 })
  assert.equal(config.options.find(({ name }) => name === 'max_concurrent')?.value, 11)
  assert.ok(config.options.every(({ running }) => running === null))
  const status = await supervisor.restart()
  assert.ok(status.health_ok)
  assert.equal(status.health?.rate_limiter.max_concurrent, 11)
  assert.deepEqual(place.gateways(), [status.pid])
})

test('a settings file that is wrong stops a start and a restart, and neither the status nor a stop', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const wrong = ['{"max_concurrent":', '[]', '{"max_concurrent":-1}', '{"nonsense":1}']
  for (const content of wrong) {
    await writeFile(place.file('gateway.json'), content)
    await assert.rejects(supervisor.start(), SettingError, content)
    const stopped = await supervisor.status()
    assert.equal(stopped.state, 'stopped')
    assert.match(stopped.message!, /gateway\.json/)
    assert.deepEqual(place.gateways(), [])
  }
  await writeFile(place.file('gateway.json'), '{}')
  const started = await supervisor.start()
  for (const content of wrong) {
    await writeFile(place.file('gateway.json'), content)
    const running = await supervisor.status()
    assert.deepEqual([running.state, running.health_ok], ['running', true])
    await assert.rejects(supervisor.restart(), SettingError, content)
    assert.equal((await supervisor.status()).pid, started.pid)
  }
  assert.equal((await supervisor.stop()).state, 'stopped')
})

test('a gateway that was started in another folder goes on in its own', async () => {
  await using place = await makeWorkplace()
  const [program = '', ...before] = gatewayCommand
  const files = ['--db=telemetry.db', '--pid-file=.proxy.pid', '--raw-log-file=payloads.jsonl']
  const args = [...before, '--port=0', '--host=127.0.0.1', upstream, ...files]
  const elsewhere = spawn(program, args, { cwd: place.folder, stdio: 'ignore' })
  using _end = { [Symbol.dispose]: () => void elsewhere.kill('SIGKILL') }
  const supervisor = place.supervisor({ args: [upstream], host: null })
  await eventually('the gateway to be healthy', async () => (await supervisor.status()).health_ok)
  assert.deepEqual(
    (await supervisor.config()).needs_restart.filter((name) => /db|file/.test(name)),
    [],
  )

  await assert.rejects(supervisor.restart({ host: '192.0.2.1' }), /The running gateway is unchanged/)
  const back = await supervisor.status()
  assert.ok(back.health_ok)
  assert.equal(back.pid, elsewhere.pid)
  const replaced = await supervisor.restart()
  assert.notEqual(replaced.pid, elsewhere.pid)
  assert.equal(replaced.health?.db, place.file('telemetry.db'))
  await supervisor.stop()
})

test('a live setting that the running gateway does not take over is kept, and the answer says so', async () => {
  await using place = await makeWorkplace()
  class Stubborn extends FakeGateway {
    override setOptions(): never {
      throw new Error('it will not')
    }
  }
  const server = await openControl({ folder: place.folder, gateway: new Stubborn('stubborn') })
  try {
    const isTrouble = (error: unknown): boolean =>
      error instanceof ProcessError && error.code === 'not_applied' && /it will not/.test(error.message)
    await assert.rejects(place.supervisor().configure({ max_concurrent: 9 }), isTrouble)
    assert.deepEqual(await savedIn(place.file('gateway.json')), { max_concurrent: 9 })
  } finally {
    await server.close()
  }
})

test('settings that cannot be kept are an error in words', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor()
  await supervisor.configure({ max_concurrent: 9 })
  // In the way of the file that is to take the place of the old one; it holds against root, too.
  await mkdir(`${place.file('gateway.json')}.${process.pid}.new`)
  const isTrouble = (error: unknown): boolean =>
    error instanceof SettingError && error.code === 'settings_not_kept'
  await assert.rejects(supervisor.configure({ max_concurrent: 8 }), isTrouble)
  assert.deepEqual(await savedIn(place.file('gateway.json')), { max_concurrent: 9 })
})

test('settings of a start and a restart that cannot be kept are an error that says that the gateway runs with them', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  await mkdir(`${place.file('gateway.json')}.${process.pid}.new`)
  const isTrouble = (error: unknown): boolean =>
    error instanceof SettingError &&
    error.code === 'settings_not_kept' &&
    /^The gateway runs with these settings, but the next start will not have them: .*gateway\.json/.test(
      error.message,
    )
  await assert.rejects(supervisor.start({ max_concurrent: 8 }), isTrouble)
  assert.equal((await supervisor.status()).health?.rate_limiter.max_concurrent, 8)
  await assert.rejects(supervisor.restart({ max_concurrent: 7 }), isTrouble)
  assert.equal((await supervisor.status()).health?.rate_limiter.max_concurrent, 7)
})
