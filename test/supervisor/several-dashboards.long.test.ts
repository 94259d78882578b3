import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { StartAnswer } from '../../src/api/process-status.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { commandThatWaitsFor, filesIn, gatewayCommand, makeWorkplace } from './workplace.ts'

const upstream = '--upstream=http://127.0.0.1:9/v1'
const startMany = fileURLToPath(new URL('start-many.ts', import.meta.url))

/** What starts in another dashboard's process answer. The process has ended when this resolves. */
async function startElsewhere(
  folder: string,
  starts: number,
  args: readonly string[],
): Promise<readonly (StartAnswer | string)[]> {
  const child = spawn(process.execPath, [startMany, folder, String(starts), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [answers] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(answers)
}

for (const [what, port] of [
  ['a fixed port', await freePort()],
  ['any port', 0],
] as const) {
  test(`fifty starts over two dashboards make one gateway on ${what}`, async () => {
    await using place = await makeWorkplace()
    const answers = (
      await Promise.all([1, 2].map(() => startElsewhere(place.folder, 25, [`--port=${port}`, upstream])))
    ).flat()
    const started = answers.filter((answer) => typeof answer === 'object')
    assert.equal(started.length, 50, String(answers.find((answer) => typeof answer === 'string')))
    assert.equal(new Set(started.map(({ pid }) => pid)).size, 1)
    assert.equal(started.filter(({ already_running: isOld }) => !isOld).length, 1)
    assert.ok(started.every(({ health_ok: isHealthy }) => isHealthy))
    assert.deepEqual(place.gateways(), [started[0]!.pid])
  })
}

test('a gateway outlives the dashboard that started it, and the next one finds it', async () => {
  await using place = await makeWorkplace()
  const [started] = await startElsewhere(place.folder, 1, ['--port=0', upstream])
  assert.ok(typeof started === 'object')
  const supervisor = place.supervisor({ args: ['--port=0', upstream] })
  const found = await supervisor.status()
  assert.deepEqual([found.state, found.health_ok, found.pid], ['running', true, started.pid])
  assert.equal((await supervisor.start()).already_running, true)
  const restarted = await supervisor.restart()
  assert.notEqual(restarted.pid, started.pid)
  assert.equal((await supervisor.stop()).state, 'stopped')
  assert.deepEqual(place.gateways(), [])
})

test('a dashboard that is killed while it starts a gateway does it no harm', async () => {
  await using place = await makeWorkplace()
  const child = spawn(process.execPath, [startMany, place.folder, '1', '--port=0', upstream])
  const supervisor = place.supervisor({ args: ['--port=0', upstream] })
  await eventually('a gateway process', () => place.gateways().length > 0)
  child.kill('SIGKILL')
  await once(child, 'close')
  await eventually('a healthy gateway', async () => (await supervisor.status()).health_ok)
  assert.deepEqual(place.gateways(), [(await supervisor.status()).pid])
})

test('a gateway that has run for a while when a slow start finds its port taken is no stranger', async () => {
  await using place = await makeWorkplace()
  const args = [`--port=${await freePort()}`, upstream]
  const slow = place.supervisor({ args, command: commandThatWaitsFor(place.file('go')) })
  const started = slow.start()
  await eventually('the slow one', () => place.gateways().length > 0)
  const other = place.supervisor({ args })
  const { pid } = await other.start()
  await eventually('its fourth second', async () => (await other.status()).uptime_s! > 3)
  writeFileSync(place.file('go'), '')
  assert.deepEqual([(await started).already_running, (await started).pid], [true, pid])
})

test('a gateway that was started by hand is found and controlled just the same', async () => {
  await using place = await makeWorkplace()
  const [program = '', ...args] = gatewayCommand
  const byHand = spawn(
    program,
    [...args, ...filesIn(place.folder), '--host=127.0.0.1', '--port=0', upstream],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const exited = once(byHand, 'exit')
  await once(byHand.stdout, 'data')
  const supervisor = place.supervisor({ args: ['--port=0', upstream] })
  const status = await supervisor.status()
  assert.deepEqual([status.state, status.pid, status.health_ok], ['running', byHand.pid, true])
  assert.equal((await supervisor.start()).already_running, true)
  await supervisor.configure({ max_concurrent: 12 })
  assert.equal((await supervisor.status()).health?.rate_limiter.max_concurrent, 12)
  assert.equal((await supervisor.stop()).state, 'stopped')
  assert.deepEqual(await exited, [0, null])
})
